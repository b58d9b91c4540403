import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { inEnglish, knownSentences } from './server-words.ts'

const root = join(import.meta.dir, '../../src')

async function sources(): Promise<string> {
  const texts: string[] = []
  for await (const path of new Bun.Glob('**/*.ts').scan(root)) {
    if (!path.includes('.test.')) texts.push(await Bun.file(join(root, path)).text())
  }
  return texts.join('\n')
}

describe('the report of an import in English', () => {
  test('every import sentence with an English text is still used by the server', async () => {
    const source = await sources()
    const said = (sentence: string) =>
      sentence.split(/\{\d\}/).every((piece) => source.includes(piece))
    expect(knownSentences.filter((sentence) => !said(sentence))).toEqual([])
  })

  test.each([
    ['应用「Night desk」已存在，已跳过', 'App “Night desk” exists already'],
    [
      '应用「A」未导入：应用数量已达上限（最多 20 个）',
      'App “A” was not imported: the limit of 20 apps is reached',
    ],
    ['人设「人设」写入失败', 'Persona “人设” could not be written'],
    [
      '第 2 个应用：name 过长（最多 60 个字符）',
      'App number 2: name is too long (at most 60 characters)',
    ],
    [
      '人设超出单次导入上限（1000 个），其余 3 个已跳过',
      'Persona: more than 1000 in one import, 3 were skipped',
    ],
  ])('the import sentence %p is translated', (sentence, english) => {
    expect(inEnglish(sentence)).toBe(english)
  })

  test('an unknown import sentence stays untranslated', () => {
    expect(inEnglish('从未说过的话')).toBe(null)
    expect(inEnglish('Bad Gateway')).toBe(null)
  })
})
