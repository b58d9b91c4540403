import type { LocalRecognition } from '../../wiring/voice.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const NAME = 'Speech recognition'
const MEND = 'put the voice pack together anew; see /docs/voice#pack of the running server'

/** Whether the voice pack is whole and its model can be loaded. */
export async function checkRecognition(local: LocalRecognition): Promise<Finding> {
  const { pack, asr, folder, exists, missing, wanted } = local
  if (pack === null || asr === null) {
    if (!exists && !wanted) return ok(NAME, 'off; MB_ASR_BASE_URL or a voice pack turns it on')
    const text = `the voice pack is not whole; missing: ${missing.join(', and ')}`
    return wanted ? fail(NAME, text, MEND) : warn(NAME, text, MEND)
  }
  const { name, kind } = pack.model
  try {
    await asr.load()
    const gate = pack.vad === null ? '' : ', with silero_vad'
    return ok(NAME, `voice pack in ${folder}, model ${name} (${kind})${gate}`)
  } catch (error) {
    const words = error instanceof Error ? error.message.slice(0, 200) : 'failed'
    return fail(NAME, `the voice pack in ${folder} cannot be loaded: ${words}`, MEND)
  }
}
