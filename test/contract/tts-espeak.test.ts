import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { segments } from '../../src/channels/espeak/text-segments.ts'
import { createEspeakTts, findEspeak } from '../../src/channels/espeak/tts.ts'
import { systemClock } from '../../src/core/clock.ts'
import { SPEECH_PROGRAMS_PER_CORE } from '../../src/core/limits/machine.ts'
import { codecs, listen } from '../support/speech-codecs.ts'
import { tempFolder } from '../support/temp.ts'

const installed = findEspeak({ folders: [], which: (name) => Bun.which(name), exists: () => false })

const createTts = (path: string, pack: string | null = null, voice = '') =>
  createEspeakTts({ program: { path, pack }, voice, clock: systemClock(), codecs })

/** A program that writes what it was given, to be read back instead of sound. */
function standIn(folder: string, script: string): string {
  const path = join(folder, 'espeak-ng')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

describe('text by script', () => {
  test.each([
    ['你好', [['mandarin', 'ni3 hao3']]],
    ['Hello, world! 2026', [['english', 'Hello, world! 2026']]],
    ['绿色的女儿', [['mandarin', 'lü4 se4 de5 nü3 er2']]],
    ['嗯，好吧', [['mandarin', 'en4 , hao3 ba5']]],
    ['现在是2026年，有35度', [['mandarin', 'xian4 zai4 shi4 2 0 2 6 nian2 , you3 35 du4']]],
    [
      '我用 OpenAI GPT-4 很久了。OK!',
      [
        ['mandarin', 'wo3 yong4'],
        ['english', 'OpenAI GPT-4'],
        ['mandarin', 'hen3 jiu3 le5 .'],
        ['english', 'OK!'],
      ],
    ],
    ['', []],
    ['😀！', []],
    ['好😀！', [['mandarin', 'hao3 !']]],
  ])('eSpeak gets the text %s split by script', (text, expected) => {
    expect(segments(text).map(({ language, text }) => [language, text])).toEqual(expected)
  })
})

describe('where the program is', () => {
  const which = (name: string) => `/usr/bin/${name}`

  test('a pack beside the data wins over an installed eSpeak', () => {
    const pack = join('data', 'packs', 'espeak')
    const exists = (path: string) => path === join(pack, 'espeak-ng')
    const folders = ['data', 'program']
    expect(findEspeak({ folders, which, exists })).toEqual({ path: join(pack, 'espeak-ng'), pack })
  })

  test('an installed eSpeak is found, or none', () => {
    const places = { folders: ['data'], exists: () => false }
    expect(findEspeak({ ...places, which })).toEqual({ path: '/usr/bin/espeak-ng', pack: null })
    expect(findEspeak({ ...places, which: () => null })).toBeNull()
  })
})

describe('the program', () => {
  test('eSpeak gets the text by standard input and only known voices', async () => {
    using folder = tempFolder()
    const log = folder.file('calls')
    const path = standIn(folder.path, `{ echo "$@"; cat; echo; } >> '${log}'; exit 1`)
    const evil = { text: '--version; $(touch x) `x` "', voice: '../../etc/passwd --path=x' }
    await expect(listen(createTts(path), evil)).rejects.toMatchObject({ name: 'ChannelFailure' })
    await expect(listen(createTts(path, null, 'male'), { text: '你好' })).rejects.toThrow()
    expect(await Bun.file(log).text()).toBe(
      [
        '--stdin --stdout -b 1 -v en-us+f3',
        '--version; $(touch x) `x` "',
        '--stdin --stdout -b 1 -v cmn-latn-pinyin',
        'ni3 hao3',
        '',
      ].join('\n'),
    )
  })

  test('eSpeak of a pack finds its data there', async () => {
    using folder = tempFolder()
    const pack = folder.file('packs', 'espeak')
    mkdirSync(pack, { recursive: true })
    const path = standIn(pack, `echo "$@ $LD_LIBRARY_PATH" > '${folder.file('call')}'; exit 1`)
    await listen(createTts(path, pack)).catch(() => null)
    expect(await Bun.file(folder.file('call')).text()).toContain(`--path=${pack} ${pack}/lib`)
  })

  test('a missing eSpeak is a failure', async () => {
    await expect(listen(createTts('/nonexistent/espeak-ng'))).rejects.toMatchObject({
      reason: 'channel_unavailable',
    })
  })

  test('eSpeak runs a few times at once, and tenants take turns', async () => {
    using folder = tempFolder()
    const [begun, going] = [folder.file('begun'), folder.file('going')]
    Bun.spawnSync(['mkfifo', begun, going])
    const path = standIn(folder.path, `cat > '${begun}'; read -r go < '${going}'; exit 1`)
    const tts = createTts(path)
    const speak = (text: string, tenantId: string) =>
      tts.speak({ text, voice: 'v', tenantId }, new AbortController().signal).catch(() => null)
    const slots = availableParallelism() * SPEECH_PROGRAMS_PER_CORE
    const speeches = Array.from({ length: slots * 4 }, () => speak('busy', 'a'))
    speeches.push(speak('other', 'b'))
    const order: string[] = []
    const pipe = await open(begun, 'r+')
    const go = await open(going, 'r+')
    const bytes = Buffer.alloc(64)
    while (order.length < slots * 4 + 1) {
      const { bytesRead } = await pipe.read(bytes)
      const words = bytes.toString('utf8', 0, bytesRead).match(/busy|other/g) ?? []
      order.push(...words)
      for (const _ of words) await go.write('go\n')
    }
    await Promise.all(speeches)
    await pipe.close()
    await go.close()
    // Its turn comes after one of the first tenant's; programs that begin in one go report in any
    // order.
    expect(order.indexOf('other')).toBeLessThanOrEqual(2 * slots + 1)
  })

  test('eSpeak is killed when the client leaves', async () => {
    using folder = tempFolder()
    const fifo = folder.file('alive')
    const path = standIn(folder.path, `echo $$ > '${fifo}'; exec sleep 100`)
    Bun.spawnSync(['mkfifo', fifo])
    const gone = new AbortController()
    const answer = listen(createTts(path), {}, gone.signal)
    const pid = Number(await Bun.file(fifo).text())
    gone.abort(new Error('left'))
    await expect(answer).rejects.toThrow('left')
    expect(() => process.kill(pid, 0)).toThrow()
  })
})

const real = installed?.path ?? ''
if (installed === null) process.stderr.write('skipped: espeak-ng is not installed\n')

describe.skipIf(installed === null)('the real program (skipped where it is not installed)', () => {
  test('eSpeak speaks Mandarin, English and both in one text', async () => {
    const chinese = await listen(createTts(real), { text: '你好，今天天气很好。' })
    const english = await listen(createTts(real), { text: 'hello' })
    const both = await listen(createTts(real), { text: '你好，今天天气很好。hello' })
    expect([chinese.rate, english.rate]).toEqual([22_050, 22_050])
    expect(chinese.pcm.length / 2 / 22_050).toBeWithin(1.5, 5)
    expect(both.pcm.length).toBe(chinese.pcm.length + english.pcm.length)
  })

  test('eSpeak has a male and a female voice, and unknown voices are female', async () => {
    const male = await listen(createTts(real), { voice: 'male-qn-qingse' })
    const female = await listen(createTts(real))
    expect(male.pcm).not.toEqual(female.pcm)
    expect((await listen(createTts(real), { voice: 'nova' })).pcm).toEqual(female.pcm)
  })

  test('eSpeak speaks the four tones of Mandarin differently', async () => {
    const heard = ['妈', '麻', '马', '骂'].map((text) => listen(createTts(real), { text }))
    const sounds = (await Promise.all(heard)).map(({ pcm }) => pcm.toString('latin1'))
    expect(new Set(sounds).size).toBe(4)
  })

  test('eSpeak speaks a text without sound as a moment of silence', async () => {
    const { pcm } = await listen(createTts(real), { text: '😀！！！' })
    expect(pcm.length).toBeGreaterThan(0)
    expect(new Set(pcm)).toEqual(new Set([0]))
  })
})
