import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type TempFolder, tempFolder } from '../../../test/support/temp.ts'
import { readModelFolder } from './model-folder.ts'

let folder: TempFolder
beforeEach(() => {
  folder = tempFolder()
})
afterEach(() => folder[Symbol.dispose]())

async function put(files: Record<string, unknown>) {
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    await Bun.write(folder.file(name), text)
  }
  return readModelFolder(folder.path)
}

const BARE = { 'model.onnx': 'weights', 'tokenizer.json': '{}' }

describe('a folder says what it is', () => {
  test('a model folder is described by its model.json', async () => {
    const settings = {
      name: 'mine',
      dimensions: 64,
      pooling: 'cls',
      output: 'out',
      add_special_tokens: false,
      query_prefix: 'q: ',
      passage_prefix: 'p: ',
      max_tokens: 100,
      relevant_cosine: 0.3,
      relevant_cosine_across: 0.2,
      unknown: 'ignored',
    }
    expect(await put({ ...BARE, 'model.json': settings })).toMatchObject({
      name: 'mine',
      kind: 'onnx',
      dimensions: 64,
      pooling: 'cls',
      output: 'out',
      specialTokens: false,
      queryPrefix: 'q: ',
      passagePrefix: 'p: ',
      tokensMax: 100,
      relevantCosine: 0.3,
      relevantAcross: 0.2,
    })
  })

  test('a model folder is described by the files of a sentence-transformers export', async () => {
    const model = await put({
      'onnx/model.onnx': 'weights',
      'tokenizer.json': '{}',
      'tokenizer_config.json': { model_max_length: 1e30 },
      'sentence_bert_config.json': { max_seq_length: 256 },
      '1_Pooling/config.json': { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
      'config_sentence_transformers.json': { prompts: { query: 'find: ', document: 'doc: ' } },
      'config.json': { _name_or_path: 'some/e5-like' },
    })
    expect(model).toMatchObject({
      pooling: 'cls',
      queryPrefix: 'find: ',
      passagePrefix: 'doc: ',
      tokensMax: 256,
    })
  })

  test('a model folder without description is known by the name of its family', async () => {
    const config = { _name_or_path: 'intfloat/multilingual-e5-small' }
    expect(await put({ ...BARE, 'config.json': config })).toMatchObject({
      pooling: 'mean',
      queryPrefix: 'query: ',
      passagePrefix: 'passage: ',
      tokensMax: 512,
    })
  })

  test('a model folder may hold a static table', async () => {
    const model = await put({ 'model.safetensors': 'table', 'tokenizer.json': '{}' })
    expect(model).toMatchObject({ kind: 'static', specialTokens: false })
  })
})

describe('the name of the vector space', () => {
  test('the name of the vector space changes exactly when passage vectors change', async () => {
    const base = await put({ ...BARE, 'model.json': { name: 'a', query_prefix: 'x' } })
    const same = await put({ 'model.json': { name: 'a', query_prefix: 'y' } })
    expect(same.id).toBe(base.id)
    const scale = { relevant_cosine: 0.2, relevant_cosine_across: 0.1 }
    expect((await put({ 'model.json': { name: 'a', ...scale } })).id).toBe(base.id)
    const changes: Record<string, unknown>[] = [
      { 'model.json': { name: 'a', passage_prefix: 'p' } },
      { 'model.json': { name: 'a', pooling: 'cls' } },
      { 'model.json': { name: 'a' }, 'model.onnx': 'weightz' },
      { 'model.json': { name: 'a' }, 'tokenizer.json': '{"a":1}' },
    ]
    const ids = [base.id]
    for (const change of changes) ids.push((await put(change)).id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('what is no model', () => {
  const rows: [string, Record<string, unknown>, RegExp][] = [
    ['an empty folder', {}, /no model\.onnx/],
    ['no tokenizer', { 'model.onnx': 'x' }, /no tokenizer\.json/],
    ['a model.json that is none', { ...BARE, 'model.json': '{' }, /not a JSON object/],
    ['a wrong value', { ...BARE, 'model.json': { dimensions: 'many' } }, /value of dimensions/],
    ['a cosine of 1', { ...BARE, 'model.json': { relevant_cosine: 1 } }, /relevant_cosine/],
    ...[{ relevant_cosine: 0.2 }, { relevant_cosine: 0.6 }, {}].map(
      (within): [string, Record<string, unknown>, RegExp] => [
        `a cosine across scripts beside ${JSON.stringify(within)}`,
        { ...BARE, 'model.json': { ...within, relevant_cosine_across: 0.3 } },
        /relevant_cosine_across/,
      ],
    ),
  ]
  for (const [name, files, message] of rows) {
    test(`a model folder with ${name} is refused in words`, async () => {
      await expect(put(files)).rejects.toThrow(message)
    })
  }
})
