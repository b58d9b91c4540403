import { describe, expect, test } from 'bun:test'
import { createLogger } from './log.ts'

/** A logger, the lines it wrote, and a clock to set. */
function logging() {
  const lines: Record<string, unknown>[] = []
  const clock = { ms: 0 }
  const log = createLogger({
    level: 'info',
    json: true,
    now: () => new Date(clock.ms),
    write: (line) => lines.push(JSON.parse(line)),
  })
  return { log, lines, clock }
}

describe('a fault that lasts', () => {
  test('a repeated log line is written ten times a minute, then counted', () => {
    const { log, lines, clock } = logging()
    for (let n = 0; n < 5_000; n++) log.warn('channel failed', { channel: 'byo' })
    expect(lines).toHaveLength(10)
    clock.ms += 60_000
    log.warn('channel failed', { channel: 'byo' })
    expect(lines.at(-1)).toMatchObject({ event: 'channel failed', left_out: 4_990 })
    log.warn('channel failed', { channel: 'byo' })
    expect(lines.at(-1)).not.toHaveProperty('left_out')
  })

  test('a repeated log line hides no other line, nor that of another channel', () => {
    const { log, lines } = logging()
    for (let n = 0; n < 100; n++) log.warn('channel failed', { channel: 'byo' })
    log.warn('channel failed', { channel: 'platform' })
    log.error('request failed', { id: 'x' })
    expect(lines.slice(10)).toMatchObject([
      { event: 'channel failed', channel: 'platform' },
      { event: 'request failed', id: 'x' },
    ])
  })

  test('a repeated log line is written again after the clock was set back', () => {
    const { log, lines, clock } = logging()
    clock.ms = 1_000_000
    for (let n = 0; n < 20; n++) log.error('request failed')
    clock.ms = 0
    log.error('request failed')
    expect(lines).toHaveLength(11)
    expect(lines.at(-1)).toMatchObject({ left_out: 10 })
  })

  test('log lines that are no faults are never left out', () => {
    const { log, lines } = logging()
    for (let n = 0; n < 50; n++) log.info('login code')
    expect(lines).toHaveLength(50)
  })
})
