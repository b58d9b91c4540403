import { expect, test } from 'bun:test'
import { inputsOfWeb } from '../../scripts/build-web.ts'

test('the console is rebuilt after a change of any file that it is made of', async () => {
  const inputs = await inputsOfWeb()
  for (const path of [
    'bun.lock',
    'web/main.tsx',
    'web/css/app.css',
    'web/guides/zh/start.md',
    'web/guides/moonbase-device.ino',
    'src/core/limits/contract.ts',
  ]) {
    expect(inputs).toContain(path)
  }
})
