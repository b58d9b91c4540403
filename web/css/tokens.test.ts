import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'

const WEB = join(import.meta.dir, '..')

test('small texts have a size of css/tokens.css, none of their own', async () => {
  const typed: string[] = []
  for (const path of new Glob('**/*.{tsx,css}').scanSync(WEB)) {
    if (path.startsWith('share/') || path.endsWith('tokens.css')) continue
    const text = await Bun.file(join(WEB, path)).text()
    for (const [found] of text.matchAll(/text-\[0\.\d+rem\]|font-size: 0\.(?!74)\d+rem/g)) {
      typed.push(`${path}: ${found}`)
    }
  }
  expect(typed).toEqual([])
})
