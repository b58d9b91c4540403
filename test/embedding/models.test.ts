import { describe, expect, test } from 'bun:test'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadedModel, loadModel } from '../../src/channels/onnx/model.ts'
import { readModelFolder } from '../../src/channels/onnx/model-folder.ts'
import {
  DEFAULT_MODEL,
  hasModelFixtures,
  MODEL_FIXTURES,
  sayWhenAbsent,
} from '../support/models.ts'

sayWhenAbsent()

interface Row {
  text: string
  cls: number[]
  mean: number[]
  vector: number[]
}

const vectorsOf = async (
  model: LoadedModel,
  ...[texts, kind]: Parameters<LoadedModel['embed']>
): Promise<Float32Array[]> => (await model.embed(texts, kind)).vectors

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)

describe.skipIf(!hasModelFixtures)('model folders dropped in', () => {
  const cases = [
    ['bert-en-tiny', 'mean', 2e-3],
    ['bert-zh-tiny', 'cls', 2e-3],
    ['m2v-tiny', 'vector', 1e-5],
  ] as const
  for (const [name, key, tolerance] of cases) {
    const dir = join(MODEL_FIXTURES, name)
    test(`${name} gives the expected vectors, in a batch and alone`, async () => {
      const { rows }: { rows: Row[] } = await Bun.file(join(dir, 'expected.json')).json()
      const model = await loadModel(dir)
      const together = await vectorsOf(
        model,
        rows.map(({ text }) => text),
        'passage',
      )
      for (const [i, row] of rows.entries()) {
        const got = together[i] as Float32Array
        expect(got).toHaveLength(row[key].length)
        const worst = Math.max(...row[key].map((x, d) => Math.abs(x - (got[d] ?? 9))))
        expect(worst).toBeLessThan(tolerance)
        // Dynamic int8 takes its scale from the batch, so one alone may differ in the last digits.
        const [alone] = await vectorsOf(model, [row.text], 'passage')
        expect(dot(got, alone as Float32Array)).toBeGreaterThan(dot(got, got) - 1e-3)
      }
    })
  }

  test('queries are embedded with the prefix, passages without', async () => {
    const model = await loadModel(join(MODEL_FIXTURES, 'bert-zh-tiny'))
    const prefix = '为这个句子生成表示以用于检索相关文章：'
    const [query] = await vectorsOf(model, ['如何重置密码？'], 'query')
    const [spelled] = await vectorsOf(model, [`${prefix}如何重置密码？`], 'passage')
    expect(query).toEqual(spelled as Float32Array)
  })

  test('a text longer than the limit of the model is embedded to its end', async () => {
    const model = await loadModel(join(MODEL_FIXTURES, 'bert-zh-tiny'))
    const long = '密码重置的步骤如下所述。'.repeat(60)
    const [a, b] = await vectorsOf(model, [`${long}尾甲`, `${long}另有结论`], 'passage')
    expect(dot(a as Float32Array, a as Float32Array)).toBeCloseTo(1, 4)
    expect(a).not.toEqual(b as Float32Array)
  })

  test('a model folder without model.json is read from its own files', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'moonbase-export-'))
    const from = join(MODEL_FIXTURES, 'bert-zh-tiny')
    for (const name of ['model.onnx', 'tokenizer.json', 'tokenizer_config.json']) {
      symlinkSync(join(from, name), join(dir, name))
    }
    writeFileSync(join(dir, 'config.json'), '{"_name_or_path":"BAAI/bge-small-zh-v1.5"}')
    expect(await readModelFolder(dir)).toMatchObject({
      name: 'BAAI/bge-small-zh-v1.5',
      pooling: 'cls',
      queryPrefix: '为这个句子生成表示以用于检索相关文章：',
      tokensMax: 512,
    })
    const { rows }: { rows: Row[] } = await Bun.file(join(from, 'expected.json')).json()
    const [got] = await vectorsOf(await loadModel(dir), [rows[0]?.text ?? ''], 'passage')
    expect(got?.[0]).toBeCloseTo(rows[0]?.cls[0] ?? 9, 2)
  })
})

describe('the model that is shipped', () => {
  test('the shipped model gives unit vectors, near for near meanings', async () => {
    const model = await loadModel(DEFAULT_MODEL)
    const [query] = await vectorsOf(model, ['如何重置密码？'], 'query')
    const texts = [
      '忘记密码时，请在登录页点“重置密码”。',
      'To reset your password, open settings.',
      '今天天气很好。',
    ]
    const [near, english, far] = await vectorsOf(model, texts, 'passage')
    const score = (v: Float32Array | undefined) => dot(query as Float32Array, v as Float32Array)
    expect(score(query)).toBeCloseTo(1, 5)
    expect(score(near)).toBeGreaterThan(0.45)
    expect(score(english)).toBeGreaterThan(score(far))
    expect(score(far)).toBeLessThan(0.45)
  })

  test('a text without tokens has the zero vector, near to nothing', async () => {
    const model = await loadModel(DEFAULT_MODEL)
    const [empty] = await vectorsOf(model, [''], 'passage')
    expect(empty?.every((x) => x === 0)).toBe(true)
    expect(await vectorsOf(model, [], 'passage')).toEqual([])
  })
})
