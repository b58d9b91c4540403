import { expect, test } from 'bun:test'
import type { SystemSetting } from '../../api/types.ts'
import { dropsKey } from './dropped-key.ts'

const at = (name: string, value: string | null): SystemSetting => ({
  name,
  value,
  secret_tail: value === null ? 'cret' : null,
  source: 'console',
  locked: false,
})
const settings = [at('MB_LLM_BASE_URL', 'https://a.example/v1'), at('MB_LLM_API_KEY', null)]

test('a saved key is told as dropped where its address becomes another server', () => {
  const drops = (values: Record<string, string | null>) => dropsKey(settings, values)
  expect(drops({ MB_LLM_BASE_URL: 'https://b.example/v1' })).toBe(true)
  expect(drops({ MB_LLM_BASE_URL: 'http://a.example/v1' })).toBe(true)
  expect(drops({ MB_LLM_BASE_URL: null })).toBe(true)
  expect(drops({ MB_LLM_BASE_URL: 'https://a.example/v2' })).toBe(false)
  expect(drops({ MB_LLM_BASE_URL: 'https://b.example/v1', MB_LLM_API_KEY: 'new' })).toBe(false)
  expect(drops({ MB_LLM_MODEL: 'other' })).toBe(false)
})
