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

test('no hook makes the framework parse cookies and queries for all routes', async () => {
  await using app = await startApp()
  // It parses them for every route once a single hook hands its whole context to a function.
  const turn = app.routes.find(({ path }) => path === '/v1/agent')
  const handler = String(turn?.compile())
  expect(handler).toContain('mapResponse')
  expect(handler).not.toMatch(/parseCookie|parseQuery|headers\.toJSON/)
})
