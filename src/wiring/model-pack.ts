import { basename, dirname } from 'node:path'
import { findModelPack, type ModelPack, type PackModelKind } from '../channels/llama/find.ts'
import { startModel } from '../channels/llama/program.ts'
import { LlamaServer } from '../channels/llama/server.ts'
import type { Config } from '../config.ts'
import { type Clock, MINUTE_MS } from '../core/clock.ts'
import { randomHex } from '../core/crypto.ts'
import type { Logger } from '../core/log.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'

interface ModelPackNeeds {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly fetch: UpstreamFetch
  /** The command that starts the program of the pack. */
  readonly modelWorker: readonly string[]
}

/** Where a model pack may lie: in the data folder, or beside the executable. */
export const lookForModelPack = ({ MB_DATA_DIR }: Config) =>
  findModelPack([MB_DATA_DIR, dirname(process.execPath)])

/**
 * The models of the pack, each served by a program of its own on a loopback port with a random key.
 * None is started here.
 */
export function openModelPack(needs: ModelPackNeeds) {
  const finding = lookForModelPack(needs.config)
  const servers: Partial<Record<PackModelKind, LlamaServer>> = {}
  const { pack } = finding
  for (const kind of ['chat', 'embed', 'rerank'] as const) {
    if (pack?.models[kind] !== undefined) servers[kind] = openServer(needs, pack, kind)
  }
  return {
    finding,
    servers,
    async close(): Promise<void> {
      await Promise.all(Object.values(servers).map((server) => server.close()))
    },
  }
}

function openServer(
  { config, clock, log, fetch, modelWorker }: ModelPackNeeds,
  pack: ModelPack,
  kind: PackModelKind,
): LlamaServer {
  const file = pack.models[kind] ?? pack.program
  const apiKey = randomHex(24)
  const args = kind === 'chat' ? (config.MB_MODEL_ARGS ?? '').split(/\s+/).filter(Boolean) : []
  const { env } = process
  return new LlamaServer({
    name: basename(file).replace(/\.(gguf|llamafile)$/i, ''),
    apiKey,
    start: () => startModel({ command: modelWorker, pack, kind, args, apiKey, env }),
    idleMs: config.MB_MODEL_IDLE_MIN * MINUTE_MS,
    fetch,
    clock,
    log,
  })
}
