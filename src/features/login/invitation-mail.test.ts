import { expect, test } from 'bun:test'
import { invitation } from './invitation-mail.ts'

const by = { inviter: 'ada@example.com', workspace: '咖啡馆 Café', language: undefined }

test('an invitation names inviter, workspace and address, in the language of the inviter', () => {
  const en = invitation({ ...by, language: 'en' }, 'https://moon.example/')
  expect(en.text).toContain(
    'ada@example.com invites you to their Moonbase workspace “咖啡馆 Café”.',
  )
  expect(en.text).toContain('https://moon.example/login')
  expect(en.text).not.toContain('邀请')
  expect(invitation({ ...by, language: 'zh' }, undefined).text).not.toContain('invites')
  const both = invitation(by, undefined)
  expect(both.text).toContain('邀请你加入')
  expect(both.text).toContain('invites you')
})

test.each(['You won! http://evil.example', 'evil.example', 'a\nb', 'pay@me', 'x'.repeat(61)])(
  'a workspace called %p is not named to strangers',
  (workspace) => {
    const { text } = invitation({ ...by, workspace }, undefined)
    expect(text).not.toContain(workspace)
    expect(text).toContain('invites you to their Moonbase workspace.')
  },
)
