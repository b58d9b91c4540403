import { describe, expect, test } from 'bun:test'
import { ConfigError, loadConfig, unknownSettings } from './config.ts'

describe('settings', () => {
  test('an empty environment gives the embedded defaults', () => {
    const config = loadConfig({ PATH: '/bin' })
    expect(config.MB_HOST).toBe('127.0.0.1')
    expect(config.MB_PORT).toBe(3900)
    expect(config.MB_COOKIE_SECURE).toBe(true)
    expect(config.MB_LLM_BASE_URL).toBeUndefined()
    expect(config.MB_ALLOW_PRIVATE_HOSTS).toEqual([])
  })

  test('empty and blank values count as unset', () => {
    expect(loadConfig({ MB_PORT: '', MB_LLM_BASE_URL: '  ' }).MB_PORT).toBe(3900)
  })

  const wrong: [string, string][] = [
    ['MB_PORT', 'http'],
    ['MB_PORT', '70000'],
    ['MB_PORT', '-1'],
    ['MB_PORT', '39.5'],
    ['MB_PUBLIC_URL', 'example.com'],
    ['MB_LLM_BASE_URL', 'ftp://x/v1'],
    ['MB_LLM_DETECT', 'yes'],
    ['MB_LLM_TIMEOUT_MS', '0'],
    ['MB_LLM_THINKING', 'on'],
    ['MB_TTS_KIND', 'openal'],
    ['MB_SMTP_URL', 'mail.example.com'],
    ['MB_ENCRYPTION_KEY', 'short'],
    ['MB_LOG_LEVEL', 'loud'],
    ['MB_MAX_STREAMS', '0'],
    ['MB_TLS_CERT', 'cert.pem'],
  ]
  for (const [name, value] of wrong) {
    test(`${name}=${value} stops the start with a sentence naming it`, () => {
      expect(() => loadConfig({ [name]: value })).toThrow(ConfigError)
      expect(() => loadConfig({ [name]: value })).toThrow(name)
    })
  }

  test('a name that is no setting is reported, not fatal', () => {
    expect(unknownSettings({ MB_PROT: '1', MB_PORT: '1', HOME: '/' })).toEqual(['MB_PROT'])
  })

  test('an encryption key is 32 bytes in hex or base64, or off', () => {
    const bytes = Buffer.alloc(32, 7)
    for (const form of ['hex', 'base64'] as const) {
      expect(loadConfig({ MB_ENCRYPTION_KEY: bytes.toString(form) }).MB_ENCRYPTION_KEY).toEqual(
        bytes,
      )
    }
    expect(loadConfig({ MB_ENCRYPTION_KEY: 'off' }).MB_ENCRYPTION_KEY).toBe('off')
  })
})
