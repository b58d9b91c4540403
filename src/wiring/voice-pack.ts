import { dirname } from 'node:path'
import type { AudioCodecs } from '../channels/ports/audio.ts'
import { createSherpaAsr, type SherpaAsr } from '../channels/sherpa/asr.ts'
import { findVoicePack, type PackFinding } from '../channels/sherpa/find.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { ASR_COMMAND } from './program.ts'

export interface PackParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  /** How this program starts itself. */
  readonly self: readonly string[]
  readonly codecs: AudioCodecs
}

/** Recognition by a voice pack: what is there of it, and the recogniser when all is there. */
export interface LocalHearing extends PackFinding {
  /** Whether the operator asked for it by name, or it is used because it is there. */
  readonly wanted: boolean
  readonly asr: SherpaAsr | null
}

/** A pack beside the data or the executable, as eSpeak NG's is found. */
export function openVoicePack({ config, clock, log, self, codecs }: PackParts): LocalHearing {
  const finding = findVoicePack({
    folders: [config.MB_DATA_DIR, dirname(process.execPath)],
    platform: `${process.platform}-${process.arch}`,
    modelName: config.MB_ASR_MODEL,
  })
  const wanted = config.MB_ASR_KIND === 'local'
  const { pack, folder, exists, missing } = finding
  if (pack === null) {
    if (wanted || exists) log.warn('voice pack incomplete', { folder, missing: missing.join('; ') })
    return { ...finding, wanted, asr: null }
  }
  const command = { argv: [...self, ASR_COMMAND, JSON.stringify(pack)] }
  return { ...finding, wanted, asr: createSherpaAsr({ command, clock, log, codecs }) }
}
