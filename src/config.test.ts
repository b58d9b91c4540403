import { describe, expect, test } from 'bun:test'
import { CHOICES } from '../web/features/system/parts.ts'
import { ConfigError, loadConfig, unknownSettings } from './config.ts'

describe('settings', () => {
  test('an empty environment gives the embedded defaults', () => {
    const config = loadConfig({ PATH: '/bin' })
    expect(config.MB_HOST).toBe('127.0.0.1')
    expect(config.MB_PORT).toBe(3900)
    expect(config.MB_COOKIE_SECURE).toBe('auto')
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
    ['MB_SMTP_URL', 'smtp://'],
    ['MB_SMTP_URL', 'smtp://me:50%off@mail.example.com'],
    ['MB_TTS_BASE_URL', 'tcp://:10200'],
    ['MB_LLM_API_KEY', 'sk-a\nb'],
    ['MB_LLM_API_KEY', 'sk-\u201cx\u201d'],
    ['MB_METRICS_TOKEN', 'ü'],
    ['MB_OIDC_CLIENT_SECRET', 'x'],
    ['MB_ENCRYPTION_KEY', 'short'],
    ['MB_LOG_LEVEL', 'loud'],
    ['MB_MAX_STREAMS', '0'],
    ['MB_ALLOW_PRIVATE_HOSTS', 'nas.local,http://10.0.0.5/v1'],
    ['MB_ALLOW_PRIVATE_HOSTS', '*'],
    ['MB_ALLOW_PRIVATE_HOSTS', 'nas.local,*.lan:8080'],
    ['MB_TLS_CERT', 'cert.pem'],
    ['MB_TLS_KEY', 'key.pem'],
    ['MB_SESSION_SECRET', 'a short one'],
    ['MB_MAIL_FROM', 'nobody'],
    ['MB_MAIL_FROM', 'a@example.com\r\nBcc: b@example.com'],
    ['MB_SIGNUP', 'everyone'],
    ['MB_SIGNUP', 'open,@example.com'],
    ['MB_APP_SCHEMES', 'moonbase,https'],
    ['MB_APP_SCHEMES', 'javascript'],
    ['MB_APP_SCHEMES', 'moon base'],
    ['MB_GITHUB_CLIENT_ID', 'x'],
    ['MB_GOOGLE_CLIENT_SECRET', 'x'],
    ['MB_OIDC_ISSUER', 'https://issuer.example'],
    ['MB_ENCRYPTION_KEY', `${'A'.repeat(42)}!`],
  ]
  for (const [name, value] of wrong) {
    test(`${name}=${JSON.stringify(value)} stops the start with a sentence naming it`, () => {
      expect(() => loadConfig({ [name]: value })).toThrow(ConfigError)
      expect(() => loadConfig({ [name]: value })).toThrow(name)
    })
  }

  test.each(Object.entries(CHOICES))('the console offers what %s takes', (name, choices) => {
    const most = choices.slice(0, -1).join(', ')
    const refused = () => loadConfig({ [name]: 'anything else' })
    expect(refused).toThrow(`${name} must be ${most} or ${choices.at(-1)}`)
  })

  test('an unknown MB_ name is reported and does not stop the start', () => {
    expect(unknownSettings({ MB_PROT: '1', MB_PORT: '1', HOME: '/' })).toEqual(['MB_PROT'])
  })

  test('a sign-up list is in lower case', () => {
    expect(loadConfig({}).MB_SIGNUP).toBe('open')
    const list = loadConfig({ MB_SIGNUP: ' Ada@Example.com, @Example.org,' }).MB_SIGNUP
    expect(list).toEqual(['ada@example.com', '@example.org'])
  })

  test('a session secret is 32 bytes, or a long text', () => {
    const bytes = Buffer.alloc(32, 7)
    for (const form of ['hex', 'base64'] as const) {
      const config = loadConfig({ MB_SESSION_SECRET: bytes.toString(form) })
      expect(config.MB_SESSION_SECRET).toEqual(bytes)
    }
    const text = 'correct horse battery staple, and more'
    expect(loadConfig({ MB_SESSION_SECRET: text }).MB_SESSION_SECRET).toEqual(Buffer.from(text))
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
