import { expect, test } from 'bun:test'
import { join } from 'node:path'

const web = join(import.meta.dir, '../web')

test('no menu or dialog of the console needs the scroll lock that is left out', async () => {
  const sources = await Promise.all(
    [...new Bun.Glob('**/*.tsx').scanSync(web)].map((path) => Bun.file(join(web, path)).text()),
  )
  const tags = sources.flatMap(
    (text) => text.match(/<(?:Menu\.Root|Radix\.Overlay)\b[^>]*>/g) ?? [],
  )
  expect(tags.length).toBeGreaterThan(0)
  expect(tags.filter((tag) => !tag.includes('modal={false}'))).toEqual([])
})
