import { expect, test } from 'bun:test'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

async function sources(): Promise<string> {
  const paths = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(root)]
  const own = paths.filter((path) => !path.includes('.test.'))
  return (await Promise.all(own.map((path) => Bun.file(join(root, path)).text()))).join('\n')
}

const wordsIn = (lists: Iterable<RegExpMatchArray>) =>
  [...lists].flatMap(([, list = '']) =>
    [...list.matchAll(/'([^']+)'/g)].map(([, word = '']) => word),
  )

test('what is loaded again after a change is what some page loads', async () => {
  const text = await sources()
  const named = [...text.matchAll(/queryKey: (?:\[\.\.\.)?([A-Z]+)/g)].map(([, name]) => name)
  const key = new RegExp(`(?:queryKey:|const (?:${named.join('|')}) =) \\[('[^']+')`, 'g')
  const loaded = wordsIn(text.matchAll(key))
  const again = wordsIn(text.matchAll(/refresh(?::| =) \[([^\]]*)\]/g))
  expect(again.length).toBeGreaterThan(60)
  expect(again.filter((key) => !loaded.includes(key))).toEqual([])
})
