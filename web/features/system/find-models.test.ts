import { expect, test } from 'bun:test'
import { findModels } from './find-models.ts'

/** A service that lists its models at one root, and has nothing elsewhere. */
const serviceAt = (root: string) => {
  const asked: string[] = []
  const list = async (address: string) => {
    asked.push(address)
    return address === root
      ? { models: ['moon'], error_class: null }
      : { models: [], error_class: 'no_list' as const }
  }
  return { asked, list }
}

test.each([
  ['https://api.example/v1', 'https://api.example/v1'],
  [' https://api.example/v1/chat/completions ', 'https://api.example/v1'],
  ['https://api.example/v1/models/', 'https://api.example/v1'],
  ['https://api.example', 'https://api.example/v1'],
  ['https://api.example/', 'https://api.example/v1'],
  ['https://api.example/openai', 'https://api.example/openai/v1'],
  ['https://api.example/compatible', 'https://api.example/compatible'],
])('at %s the models of %s are found', async (given, root) => {
  const found = await findModels(serviceAt(root).list, given)
  expect(found).toEqual({ address: root, listing: { models: ['moon'], error_class: null } })
})

test('an address that lists nothing stays as it was given, but for the end of a call', async () => {
  const { list, asked } = serviceAt('https://nowhere.example')
  const { address, listing } = await findModels(list, 'https://api.example/v4/chat/completions')
  expect([address, listing.error_class]).toEqual(['https://api.example/v4', 'no_list'])
  expect(asked).toEqual(['https://api.example/v4'])
})

test('an address that refuses the key is asked once', async () => {
  const asked: string[] = []
  const refusing = async (address: string) => {
    asked.push(address)
    return { models: [], error_class: 'unauthorized' as const }
  }
  expect((await findModels(refusing, 'https://api.example')).address).toBe('https://api.example')
  expect(asked).toHaveLength(1)
})
