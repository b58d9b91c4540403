import { expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { ask, greetedBoard } from '../support/board.ts'
import { ASK, TEXT } from '../support/collections.ts'
import { deviceClient } from '../support/devices.ts'
import { HOME, useWyoming } from '../support/wyoming-app.ts'

const at = useWyoming()

/** Two collections of the tenant of Home Assistant, each with a document that answers. */
async function twoCollections() {
  const me = caller(`${at.app.url}/v1`, at.key.headers)
  const made = async (path: string, body: object) =>
    (await me<{ id: string }>('POST', path, body)).json().id
  const [a, b] = [
    await made('/kb/collections', { name: crypto.randomUUID() }),
    await made('/kb/collections', { name: crypto.randomUUID() }),
  ]
  await made('/kb/docs', { title: '甲文', text: `${TEXT}甲`, collection_id: a })
  await made('/kb/docs', { title: '乙文', text: `${TEXT}乙`, collection_id: b })
  return { a, b, made }
}

/** Which of the two documents the model was given. */
function given(): string[] {
  const sent = JSON.stringify(at.upstream.requests)
  return ['甲文', '乙文'].filter((title) => sent.includes(title))
}

test('a board and Home Assistant are answered from their side of the wall', async () => {
  const { a, b, made } = await twoCollections()
  const person = caller(`${at.app.url}/console`, (await at.app.person(HOME)).headers)
  expect((await person('PUT', '/settings', { collections: [b] })).status).toBe(200)
  await at.say(ASK)
  expect(given()).toEqual(['乙文'])

  at.upstream.reset()
  const app_id = await made('/apps', { name: crypto.randomUUID(), collections: [a] })
  const { socket } = await greetedBoard(at.app, deviceClient(at.app, at.key), {}, { app_id })
  ask(socket, ASK)
  await socket.next('tts', 'stop')
  await socket.close()
  expect(given()).toEqual(['甲文'])
})
