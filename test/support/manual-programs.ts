import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { marked, type Tokens } from 'marked'
import { readGuide } from '../../web/guides/read.ts'
import { type AppOptions, startApp } from './app.ts'
import { deviceClient } from './devices.ts'
import { runProgram } from './run.ts'
import { startUpstream, type Upstream } from './upstream.ts'

/** The code blocks of the manual's page on devices. */
async function guideBlocks(language: 'zh' | 'en' = 'en'): Promise<Tokens.Code[]> {
  const tokens = marked.lexer(await readGuide('devices', language))
  return tokens.filter((token): token is Tokens.Code => token.type === 'code')
}

/** The first code block whose info line or text contains `mark`. */
export async function guideBlock(mark: string): Promise<string> {
  const found = (await guideBlocks()).find(
    ({ lang = '', text }) => lang.includes(mark) || text.includes(mark),
  )
  if (!found) throw new Error(`the guide has no block with ${mark}`)
  return found.text
}

/** Writes shell scripts in place of the machine's sound programs, for use as the whole PATH. */
export function fakePrograms(folder: string, scripts: Readonly<Record<string, string>>): string {
  mkdirSync(folder, { recursive: true })
  for (const [name, script] of Object.entries(scripts)) {
    const path = join(folder, name)
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
  }
  return folder
}

export interface Ended {
  readonly out: string
  readonly code: number
}

/** Runs a program to its end with `lines` as its input; returns output and errors as one text. */
export async function typeInto(
  command: readonly string[],
  lines: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const stdin = new Blob(lines.map((line) => `${line}\n`))
  const { out, err, code } = await runProgram(command, { env: { PATH: '', ...env }, stdin })
  return { out: out + err, code }
}

/** A server with scripted speech and recognition, and a client of its device endpoints. */
export async function startVoiceApp(options: AppOptions = {}) {
  const upstream = await startUpstream()
  const { baseUrl } = upstream
  const env = { MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl, ...options.env }
  const app = await startApp({ upstream: baseUrl, ...options, env })
  const devices = deviceClient(app, await app.key())
  return {
    upstream,
    app,
    devices,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await upstream.stop()
    },
  }
}

/** The last recording that the recogniser received. */
export async function heardBy({ requests }: Upstream): Promise<Buffer> {
  const heard = requests.findLast(({ path }) => path === '/audio/transcriptions')
  const file = heard?.form?.get('file')
  if (!(file instanceof Blob)) throw new Error('nothing was heard')
  return Buffer.from(await file.arrayBuffer())
}
