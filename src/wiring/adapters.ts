import { createUpstreamFetch } from '../channels/net/upstream-fetch.ts'
import type { Embedder } from '../channels/ports/embedder.ts'
import { meterAsr, meterEmbedder, meterTts } from '../channels/resilience/metered.ts'
import type { Logger } from '../core/log.ts'
import { onDataDir } from '../data-folder/operator-error.ts'
import { openSecrets } from '../data-folder/secrets.ts'
import { consolePages } from '../http/console-pages.ts'
import { createJsonParser } from '../http/json-parser.ts'
import { hasRows } from '../storage/sqlite/inspect.ts'
import { createReadThread } from '../storage/sqlite/read-thread.ts'
import { createToolRegistry } from '../tools/tool-box.ts'
import { type EgressParts, openEgress } from './egress.ts'
import { openEmbedding } from './embedding.ts'
import { openMetrics } from './metrics.ts'
import { openParser } from './parser.ts'
import { openPlatform } from './platform.ts'
import type { Program } from './program.ts'
import { builtInTools, openKnowledge } from './services.ts'
import { openSpeech } from './speech.ts'
import { openStorage } from './storage.ts'

export interface Outside extends EgressParts {
  readonly log: Logger
  readonly program: Program
  /** Shows a login code on the server's own terminal. */
  readonly printCode: (email: string, code: string) => void
  /** In place of the one that is configured. */
  readonly embedder?: Embedder
}

export type Adapters = Awaited<ReturnType<typeof openAdapters>>

/** Opens every part that reaches outside the program: files, threads, processes, upstreams. */
export async function openAdapters(outside: Outside) {
  const { config, clock, log, program } = outside
  const fetch = createUpstreamFetch(outside.fetch)
  const { writerUrl, readerUrl, encoderUrl, jsonUrl, self } = program
  // Looks around on this machine while the folder is opened.
  const finding = openPlatform(config, clock, fetch)
  const storage = await openStorage(config, new Date(clock.now()), writerUrl)
  const { file, runtime, upgradeCopy } = storage
  if (upgradeCopy) log.info('database upgraded', { copy: upgradeCopy })
  const { replaced } = runtime
  if (replaced.length > 0) log.warn('native parts differed', { written: replaced.join(', ') })
  const metrics = await openMetrics(config)
  const secrets = onDataDir(config.MB_DATA_DIR, () =>
    openSecrets(config, () => hasRows(file, 'provider')),
  )
  const parser = openParser(self, clock)
  const jsonParser = createJsonParser({ clock, workerUrl: jsonUrl })
  const voice = openSpeech({ config, clock, log, fetch, self, encoderUrl, parser })
  const speech = {
    ...voice,
    tts: voice.tts && meterTts(voice.tts, metrics.meters),
    asr: voice.asr && meterAsr(voice.asr, metrics.meters),
  }
  const embedding = outside.embedder
    ? { embedder: outside.embedder, description: outside.embedder.id }
    : await openEmbedding({ config, runtime, self, clock, log, fetch })
  const embedder = meterEmbedder(embedding.embedder, metrics.meters)
  // The writer thread had this long to start, beside all the above.
  const db = await storage.opening
  const reader = createReadThread(file, readerUrl, db.failed)
  const kb = await openKnowledge({ db, reader, embedder, clock, log })
  const egress = openEgress(outside)
  const toolsFor = createToolRegistry(builtInTools(clock, egress, parser), [kb.toolsFor])
  const pages = await consolePages(runtime.webDir)
  const platform = await finding
  const upstreams = { platform, speech, embedding, embedder, egress, parser, jsonParser }
  return { ...outside, fetch, ...upstreams, db, pages, reader, secrets, kb, toolsFor, metrics }
}
