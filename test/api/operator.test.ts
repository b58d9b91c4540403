import { expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { signIn } from '../support/login.ts'

test('the first person who signs in is operator, and nobody after', async () => {
  await using app = await startApp()
  // A person whom a command made has not signed in.
  await app.key('made@example.com')
  const first = await signIn(app, 'first@example.com')
  const second = await signIn(app, 'made@example.com')
  expect(first.me).toMatchObject({ operator: true })
  expect(second.me).toMatchObject({ operator: false })
  const seen = await fetch(`${app.url}/auth/me`, { headers: first.headers })
  expect(await seen.json()).toEqual(first.me)
})
