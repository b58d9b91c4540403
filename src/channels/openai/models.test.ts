import { expect, test } from 'bun:test'
import { firstChatModel, firstEmbeddingModel, listedModels, listModels } from './models.ts'

const listing = (...ids: string[]) => Response.json({ data: ids.map((id) => ({ id })) })

test.each([
  [['qwen3', 'nomic-embed-text'], 'qwen3', 'nomic-embed-text'],
  [['whisper-1', 'BAAI/bge-m3', 'glm-5'], 'glm-5', 'BAAI/bge-m3'],
  [['BAAI/bge-reranker-v2-m3', 'BAAI/bge-m3'], null, 'BAAI/bge-m3'],
  [['qwen3'], 'qwen3', null],
  [[], null, null],
])('of the models %j %p chats and %p makes vectors', async (ids, chat, embedding) => {
  expect(await firstChatModel(listing(...ids))).toBe(chat)
  expect(await firstEmbeddingModel(await listedModels(listing(...ids)))).toBe(embedding)
})

test.each(['<html>', 'null', '[]', '{"data":{}}', '{"data":[null]}', '{"data":[{"id":7}]}'])(
  'an answer that is no list of models names none: %s',
  async (text) => {
    expect(await firstChatModel(new Response(text))).toBeNull()
    expect(await firstEmbeddingModel(await listedModels(new Response(text)))).toBeNull()
  },
)

test('what a model can is told by its entry, else by its name', async () => {
  const made = (...output_modalities: string[]) => ({ architecture: { output_modalities } })
  const data = [
    { id: 'qwen3', object: 'model', type: 'model' },
    { id: 'gemini-image', ...made('image', 'text') },
    { id: 'glm-voice', ...made('audio') },
    { id: 'my-embedding-of-words', type: 'chat' },
    { id: 'jina-v4', type: 'embedding' },
    { id: 'fast', model_type: 'rerank' },
    { id: 'mistral-small', capabilities: { completion_chat: true } },
    { id: 'mistral-x', capabilities: { completion_chat: false } },
    ...['all-minilm', 'gpt-4o-mini-tts', 'sensevoice-small', 'flux.1-dev'].map((id) => ({ id })),
  ]
  const endpoint = {
    baseUrl: 'http://h/v1',
    apiKey: '',
    fetch: async () => Response.json({ data }),
  }
  const { models, chat } = await listModels(endpoint as never, new AbortController().signal)
  expect(models).toHaveLength(data.length)
  expect(chat).toEqual(['qwen3', 'gemini-image', 'my-embedding-of-words', 'mistral-small'])
})
