import { expect, test } from 'bun:test'
import { describeWeb } from './setup.ts'
import { ask, ended, turnOf, useStudio } from './studio-page.ts'

const WORDS = Array.from({ length: 20 }, (_, at) => `word${at}`)

describeWeb('a reload in the middle of an answer', () => {
  const at = useStudio()

  test('loses no word of it at any of 20 moments', async () => {
    await using guest = await at.open()
    const { page } = guest
    for (const after of WORDS.keys()) {
      const rest = Promise.withResolvers<void>()
      const pieces = WORDS.map((word) => `${word} `)
      at.world.platform.reply({ pieces, hold: { after: after + 1, until: rest.promise } })
      const question = `Question at moment ${after}.`
      await ask(page, question)
      const reply = turnOf(page, question).locator('.prose', { hasText: `word${after}` })
      await reply.waitFor()
      await page.reload()
      await reply.waitFor()
      rest.resolve()
      await ended(turnOf(page, question))
      const text = await turnOf(page, question).locator('.prose').textContent()
      expect(text?.trim().split(/\s+/)).toEqual(WORDS)
    }
    expect(guest.complaints).toEqual([])
  }, 240_000)
})
