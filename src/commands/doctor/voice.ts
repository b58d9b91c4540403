import { createServer } from 'node:net'
import { connect } from '../../channels/wyoming/connection.ts'
import { type LocalRecognition, openVad } from '../../wiring/voice.ts'
import { type Finding, fail, ok, type UpstreamParts, warn } from './finding.ts'

const MEND = 'assemble the voice pack again; see /docs/voice#pack of the running server'
const RECOGNITION = 'Speech recognition'

/** Checks that the voice pack is complete and its model can be loaded. */
export async function checkRecognition(local: LocalRecognition): Promise<Finding> {
  const name = RECOGNITION
  const { pack, asr, folder, exists, missing, wanted } = local
  if (pack === null || asr === null) {
    if (!exists && !wanted) return ok(name, 'off; MB_ASR_BASE_URL or a voice pack turns it on')
    const text = `the voice pack is not whole; missing: ${missing.join(', and ')}`
    return wanted ? fail(name, text, MEND) : warn(name, text, MEND)
  }
  const { name: model, kind } = pack.model
  try {
    await asr.load()
    const gate = pack.vad === null ? '' : ', with silero_vad'
    return ok(name, `voice pack in ${folder}, model ${model} (${kind})${gate}`)
  } catch (error) {
    return fail(name, `the voice pack in ${folder} cannot be loaded: ${wordsOf(error)}`, MEND)
  }
}

/** Checks the voice detector by loading its model. */
export async function checkDetector(parts: UpstreamParts): Promise<Finding> {
  const name = 'End of speech'
  const { runtime, program } = parts
  const vad = runtime && openVad({ ...parts, runtime, vadWorker: program.vadWorker })
  if (!vad) return ok(name, 'found by loudness; silero_vad.onnx of a voice pack hears better')
  try {
    await vad.load()
    return ok(name, 'found by silero_vad.onnx of the voice pack')
  } catch (error) {
    const text = `silero_vad.onnx cannot be loaded: ${wordsOf(error)}; loudness is used`
    return warn(name, text, 'download the file again')
  } finally {
    await vad.close()
  }
}

const wordsOf = (error: unknown) =>
  error instanceof Error ? error.message.slice(0, 200) : 'failed'

const HOME = 'Home Assistant'
/** Home Assistant itself waits a second. */
const ANSWER_MS_MAX = 3_000

/** Queries the running server as Home Assistant does; else checks that the port is free. */
export async function checkHomeAssistant(
  { config, clock, isServed }: UpstreamParts,
  signal: AbortSignal,
): Promise<Finding> {
  const { MB_WYOMING_PORT: port, MB_HOST: host } = config
  if (port === undefined) return ok(HOME, 'off; MB_WYOMING_PORT and MB_WYOMING_KEY turn it on')
  if (!isServed) {
    return (await isFree(host, port))
      ? ok(HOME, `${host}:${port} is free; the key is looked at when the server runs`)
      : fail(HOME, `${host}:${port} cannot be listened on`, 'choose another MB_WYOMING_PORT')
  }
  const connection = await connect({ host, port }, clock, signal).catch(() => null)
  if (connection === null) {
    const mend = 'start the server with the same settings as this command'
    return warn(HOME, `nobody answers at ${host}:${port}`, mend)
  }
  try {
    await connection.send('describe')
    await connection.events(ANSWER_MS_MAX).next()
    return ok(HOME, `answers at ${host}:${port}`)
  } catch {
    return fail(HOME, 'the key is unknown or revoked', 'set MB_WYOMING_KEY to a valid key')
  } finally {
    connection.close()
  }
}

/** Whether a server could listen there. */
export function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
