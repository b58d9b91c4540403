import { expect, test } from 'bun:test'
import { ChannelFailure } from '../ports/failure.ts'
import { endpointHeaders, endpointUrl } from './endpoint.ts'

test('the path goes below the base as given', () => {
  for (const [baseUrl, url] of [
    ['http://h/v1', 'http://h/v1/models'],
    ['http://h/v1///', 'http://h/v1/models'],
    ['http://h', 'http://h/models'],
    ['https://h:8443/api/paas/v4/', 'https://h:8443/api/paas/v4/models'],
    ['https://h/openai?api-version=2#x', 'https://h/openai/models?api-version=2'],
  ] as const) {
    expect(endpointUrl({ baseUrl, apiKey: '' }, '/models')).toBe(url)
  }
})

test('only http and https', () => {
  for (const baseUrl of ['', 'h/v1', 'ftp://h/', 'javascript:alert(1)', 'file:///etc/passwd']) {
    expect(() => endpointUrl({ baseUrl, apiKey: '' }, '/models')).toThrow(ChannelFailure)
  }
})

test('a key goes out as it is, or not at all', () => {
  const headers = (apiKey: string) => endpointHeaders({ baseUrl: 'http://h', apiKey })
  expect(headers('sk-1')).toEqual({ authorization: 'Bearer sk-1' })
  expect(headers('')).toEqual({})
  for (const bad of ['a\nb', 'a\r\nx: y', 'a\0', '钥']) {
    expect(() => headers(bad)).toThrow(ChannelFailure)
  }
})
