import { expect, test } from 'bun:test'
import { firstChatModel, firstEmbeddingModel, listedModels } from './models.ts'

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
