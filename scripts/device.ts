// A simulated device: pairs, sends heartbeats, records and plays, as hardware does. See --help.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createKeyFile } from './device/key-file.ts'
import { beat, NotPaired, pair } from './device/pairing.ts'
import { Refused } from './device/refusal.ts'
import { createServer, type Server } from './device/server.ts'
import { pronounce, record } from './device/sound.ts'
import { createTurns, type Turns } from './device/turns.ts'
import { runXiaozhi } from './device/xiaozhi.ts'
import { readArguments, runScript, UsageError, wholeNumber } from './usage.ts'

const HELP = `A simulated Moonbase device.

  bun scripts/device.ts --server URL [--code CODE] [what to do] [options]

Pairing
  --server URL      address of the server, such as http://192.168.1.10:3900
  --code CODE       activation code from the console (Devices); needed once, and again after the
                    key was revoked. A valid stored key takes precedence.
  --key-file FILE   file of the key, mode 0600 (~/.moonbase-device.json)
  --ca FILE         certificate of your own authority (PEM), for https

One action; without any of these, each typed line is one turn
  --say TEXT        speak TEXT with espeak-ng, send it, play the answer
  --audio FILE      send a recording: wav, mp3, flac, ogg, webm
  --record SECONDS  record with arecord or rec, send it, play the answer
  --speak TEXT      let the server speak TEXT as a stream, and print the time to the first sound
  --heartbeat       only stay online, until Ctrl-C

Lines typed: a sentence is said, an empty line records 5 seconds, "/speak TEXT" streams,
"/audio FILE" sends a recording. The device sends a heartbeat every 60 seconds.

A xiaozhi board instead
  --protocol xiaozhi
                    start, pair and talk as an unmodified board does: --say TEXT, --type TEXT or
                    typed lines, which are said, or asked in writing after "/type "
  --mac MAC         its address (02:00:00:00:00:01)
  --frames 1|2|3    version of its frames (1)
  --frame-ms 20|60  length of its packets (60)
  --type TEXT       ask in writing
  --abort MS        interrupt the answer, so long after its first sound
  --no-dtx          send silence as sound, in place of packets of two bytes
Twenty of them for minutes: bun scripts/soak.ts --only boards

Options
  --out FILE        write the sound to FILE instead of playing it (mp3, or wav of a stream)
  --session ID      session of the conversation (device)
  --voice ID        voice of the answer
  --help

Ends with 0, with 1 after a failure, 2 for wrong options, 3 when the device must be paired again.
`

const HEARTBEAT_MS = 60_000
const RECORD_SECONDS = 5
const say = (text: string) => void process.stdout.write(`${text}\n`)

function readOptions(args: string[]) {
  const text = { type: 'string' } as const
  const { values } = readArguments({
    args,
    options: {
      server: text,
      code: text,
      'key-file': { ...text, default: join(homedir(), '.moonbase-device.json') },
      ca: text,
      say: text,
      audio: text,
      record: text,
      speak: text,
      heartbeat: { type: 'boolean', default: false },
      out: text,
      session: { ...text, default: 'device' },
      voice: text,
      protocol: { ...text, default: 'moonbase' },
      mac: { ...text, default: '02:00:00:00:00:01' },
      frames: { ...text, default: '1' },
      'frame-ms': { ...text, default: '60' },
      type: text,
      abort: text,
      'no-dtx': { type: 'boolean', default: false },
    },
  })
  const url = URL.parse(values.server ?? '')
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--server is needed, such as http://192.168.1.10:3900')
  }
  const { record: seconds } = values
  return {
    ...values,
    origin: url.origin,
    record: seconds === undefined ? undefined : wholeNumber('--record', seconds, 1, 999),
  }
}

type Options = ReturnType<typeof readOptions>

/** False when the typed lines alone decide what the device does. */
async function doOnce(options: Options, turns: Turns): Promise<boolean> {
  const { say: sentence, audio, record: length, speak } = options
  if (sentence !== undefined) await turns.converse(await pronounce(sentence))
  if (audio !== undefined) await turns.converse(readFileSync(audio))
  if (length !== undefined) await turns.converse(await record(length))
  if (speak !== undefined) await turns.speak(speak)
  return [sentence, audio, length, speak].some((given) => given !== undefined)
}

async function doLine(line: string, turns: Turns): Promise<void> {
  const [, command, rest = ''] = /^\/(speak|audio)\s+(.+)$/.exec(line) ?? []
  if (command === 'speak') return turns.speak(rest)
  if (command === 'audio') return turns.converse(readFileSync(rest))
  return turns.converse(line.trim() ? await pronounce(line) : await record(RECORD_SECONDS))
}

/** One turn a line. Prints a failure and continues; a revoked key ends the loop. */
async function doLines(turns: Turns): Promise<void> {
  say('Type what to say, or press Enter to record; Ctrl-D ends.')
  for await (const line of createInterface({ input: process.stdin })) {
    await doLine(line, turns).catch((error: unknown) => {
      if (mustPair(error)) throw error
      say(String(error instanceof Error ? error.message : error))
    })
  }
}

const mustPair = (error: unknown) =>
  error instanceof NotPaired || (error instanceof Refused && [401, 403, 410].includes(error.status))

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(mustPair(error) ? 3 : 1)
}

/** Prints a temporary failure of the heartbeat; a revoked key ends the device. */
const keepBeating = (server: Server) =>
  setInterval(() => {
    beat(server).catch((error: unknown) => {
      if (mustPair(error)) fail(error)
      say(`No heartbeat: ${error instanceof Error ? error.message : error}`)
    })
  }, HEARTBEAT_MS)

async function runDevice(options: Options): Promise<void> {
  const { origin, code, session, voice, out } = options
  const ca = options.ca === undefined ? undefined : readFileSync(options.ca, 'utf8')
  const server = createServer({ origin, ca, say })
  await pair({ server, keyFile: createKeyFile(options['key-file']), code, say })
  const timer = keepBeating(server)
  if (options.heartbeat) return
  const turns = createTurns({ server, say, session, voice, out })
  if (!(await doOnce(options, turns))) await doLines(turns)
  clearInterval(timer)
}

const runBoard = ({ origin, code, mac, say: text, type: typed, ...options }: Options) =>
  runXiaozhi({
    ...{ origin, code, mac, text, typed, say },
    dtx: !options['no-dtx'],
    abortMs:
      options.abort === undefined ? undefined : wholeNumber('--abort', options.abort, 0, 60_000),
    version: wholeNumber('--frames', options.frames, 1, 3),
    frameMs: wholeNumber('--frame-ms', options['frame-ms'], 20, 60),
  })

await runScript(HELP, (args) => {
  const options = readOptions(args)
  return (options.protocol === 'xiaozhi' ? runBoard(options) : runDevice(options)).catch(fail)
})
