import { expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'

test('no route lets the framework read the body before the handler has decided to', async () => {
  await using app = await startApp()
  // The framework guesses from a handler's source whether it wants the body, and guesses otherwise
  // once the source is minified: the body is then gone when the handler reads it.
  const guessed = app.routes
    .filter(({ method }) => ['POST', 'PUT', 'PATCH'].includes(method))
    .filter(({ hooks }) => !JSON.stringify(hooks?.parse ?? null).includes('"none"'))
    .map(({ method, path }) => `${method} ${path}`)
  expect(guessed).toEqual([])
})
