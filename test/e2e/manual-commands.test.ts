import { describe, expect, test } from 'bun:test'
import { marked, type Tokens } from 'marked'
import { type GuideId, guidePath } from '../../web/guides/pages.ts'
import { readGuide } from '../../web/guides/read.ts'
import { startApp } from '../support/app.ts'
import { startNameServer } from '../support/name-server.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { runProgram } from '../support/run.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'

const CURL = Bun.which('curl')
if (!CURL) process.stderr.write('skipped: no curl here to run the commands of the manual\n')

const SERVER = 'http://127.0.0.1:3900'
/** Readers put their key in its place. */
const PLACEHOLDER = 'sk-mb-…'
const PAGES: readonly GuideId[] = ['start', 'kb', 'apps', 'curl', 'api']

/** Blocks of code of a page that talk to a running server. */
async function blocksOf(page: GuideId, language: string) {
  return marked
    .lexer(await readGuide(page, 'en'))
    .filter((token): token is Tokens.Code => token.type === 'code')
    .filter(({ lang, text }) => lang === language && text.includes(SERVER))
    .map(({ text }) => text)
}

// Without curl there is nothing to run.
describe.skipIf(!CURL)('the commands of the manual', () => {
  test.each(PAGES)(
    'the commands of the manual page %s work as printed',
    async (page) => {
      // Speech comes from a stand-in, and no name leads out of this machine.
      const upstream = await startUpstream()
      const { baseUrl } = upstream
      const env = { MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl }
      await using names = await startNameServer(() => null)
      await using app = await startApp({ env, nameServer: names.address })
      using folder = tempFolder()
      const pages = [{ lines: ['Holidays are thirty days.'] }]
      await Bun.write(folder.file('handbook.pdf'), pdfFile(pages))
      const { key } = await app.key()
      for (const block of await blocksOf(page, 'sh')) {
        const command = block
          .replaceAll(SERVER, app.url)
          .replaceAll(PLACEHOLDER, key)
          .replaceAll('curl ', 'curl -sS --fail ')
        const env = { PATH: process.env.PATH ?? '', KEY: key }
        const options = { env, cwd: folder.path }
        const { out, err, code } = await runProgram(['/bin/sh', '-ec', command], options)
        expect({ page: guidePath(page), command, code, err }).toMatchObject({ code: 0, err: '' })
        expect(out).toMatch(/^(event: |data: |\{"|00:00:00,000 --> )/m)
      }
      await upstream.stop()
    },
    60_000,
  )

  test('the programs of the TypeScript page of the manual work as printed', async () => {
    await using app = await startApp()
    using folder = tempFolder()
    const { key } = await app.key()
    const tokens = marked.lexer(await readGuide('typescript', 'en'))
    const [first = '', ...rest] = tokens.flatMap((token) =>
      token.type === 'code' ? [token.text as string] : [],
    )
    // In the repository, where the client is found.
    const source = [first, ...rest.map((block) => `{ ${block} }`)].join('\n')
    const path = folder.file('client.ts')
    const found = JSON.stringify(Bun.resolveSync('openai', import.meta.dir))
    await Bun.write(path, source.replaceAll(SERVER, app.url).replace("'openai'", found))
    const env = { PATH: process.env.PATH ?? '', KEY: key }
    const { out, err, code } = await runProgram([process.execPath, path], { env })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/\n \d+ tokens\n/)
  }, 60_000)

  test('the program of the API page of the manual prints the reply as it grows', async () => {
    await using app = await startApp()
    using folder = tempFolder()
    const { key } = await app.key()
    const [program = ''] = await blocksOf('api', 'js')
    const path = folder.file('client.mjs')
    const source = `const KEY = ${JSON.stringify(key)}\n${program.replaceAll(SERVER, app.url)}`
    await Bun.write(path, source)
    const { out, code } = await runProgram([process.execPath, path], { cwd: folder.path })
    expect(code).toBe(0)
    expect(out).toContain('Moonbase')
  }, 60_000)
})
