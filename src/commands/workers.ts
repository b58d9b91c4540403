import { dirname } from 'node:path'

/** What runs in the child processes that this program starts of itself. */

export async function runEmbed(modelDir: string): Promise<void> {
  const binding = process.env.MOONBASE_ONNX_BINDING
  if (binding !== undefined) {
    const { mendEmbeddingParts } = await import('../native/runtime.ts')
    await mendEmbeddingParts(dirname(binding))
  }
  const { runEmbedWorker } = await import('../channels/onnx/worker.ts')
  await runEmbedWorker(modelDir, process)
}

export async function runParse(): Promise<void> {
  const { runParseWorker } = await import('../channels/parser/worker.ts')
  const { parseFunctions } = await import('../wiring/parse-tasks.ts')
  await runParseWorker(parseFunctions, process)
}

/** `pack`: a `VoicePack` as JSON. */
export async function runAsr(pack: string): Promise<void> {
  const { openSherpa, runAsrWorker } = await import('../channels/sherpa/worker.ts')
  await runAsrWorker(() => openSherpa(JSON.parse(pack)), process)
}
