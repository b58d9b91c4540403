import { dlopen, FFIType } from 'bun:ffi'
import { dirname } from 'node:path'
import type { ParseFunctions } from '../channels/parser/worker.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'
import { replaceProcess } from './program.ts'

/** What runs in the child processes that this program starts of itself. */

/** Checks and repairs the executable's ONNX Runtime before it is loaded. */
async function mendOnnx(): Promise<void> {
  const binding = process.env.MOONBASE_ONNX_BINDING
  if (binding === undefined) return
  const { mendEmbeddingParts } = await import('../native/runtime.ts')
  await mendEmbeddingParts(dirname(binding))
}

export async function runEmbed(modelDir: string): Promise<void> {
  await mendOnnx()
  const { runEmbedWorker } = await import('../channels/onnx/worker.ts')
  await runEmbedWorker(modelDir, process)
}

export async function runParse(): Promise<void> {
  const { runParseWorker } = await import('../channels/parser/worker.ts')
  await runParseWorker(parseFunctions, process)
}

const C_LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']
const PRCTL = { prctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 } } as const
const PR_SET_PDEATHSIG = 1
const SIGKILL = 9

/**
 * Makes the system kill this process as soon as its parent ends (prctl(2)), also after another
 * program has replaced this one. Only Linux can.
 */
function dieWithParent(): void {
  for (const library of C_LIBRARIES) {
    try {
      dlopen(library, PRCTL).symbols.prctl(PR_SET_PDEATHSIG, SIGKILL)
    } catch {
      // A machine with another C library has no such function.
    }
  }
}

/**
 * Replaces this process by the program that serves a model, which must not outlive the server.
 * Where the system cannot guarantee that, this process stays and ends the program after the server.
 */
export async function runModel([program = '', ...args]: readonly string[]): Promise<void> {
  if (process.platform === 'linux') {
    dieWithParent()
    replaceProcess(program, args, process.env)
  }
  const child = Bun.spawn([program, ...args], { stdio: ['ignore', 'inherit', 'inherit'] })
  const parent = process.ppid
  const watch = setInterval(() => process.ppid !== parent && child.kill('SIGKILL'), 1_000)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => child.kill('SIGKILL'))
  }
  process.exitCode = await child.exited
  clearInterval(watch)
}

export async function runVad(file: string): Promise<void> {
  await mendOnnx()
  const { runVadWorker } = await import('../channels/onnx/vad-worker.ts')
  await runVadWorker(file, process)
}

/** `pack`: a `VoicePack` as JSON. */
export async function runAsr(pack: string): Promise<void> {
  const { openSherpa, runAsrWorker } = await import('../channels/sherpa/worker.ts')
  await runAsrWorker(() => openSherpa(JSON.parse(pack)), process)
}

/**
 * The functions of the parse worker by task (`upstream/ports/parser.ts`). Libraries are loaded with
 * the first task that needs them.
 */
export const parseFunctions: ParseFunctions = {
  async *audio(bytes, { rate }) {
    const { decodePcm } = await import('../audio/decode-pcm.ts')
    yield* decodePcm(bytes, rate)
  },
  async *duration(bytes) {
    const { durationOf } = await import('../audio/decode-pcm.ts')
    yield await durationOf(bytes)
  },
  async *page(bytes, { contentType }) {
    const { decodeText } = await import('../core/text-encoding.ts')
    const { pageText } = await import('../tools/page-text.ts')
    yield pageText(decodeText(bytes, contentType))
  },
  async *drawing(bytes, { page, sideMax }) {
    const { pictureKind } = await import('../core/picture-kind.ts')
    const { drawPage, drawPicture } = await import('../documents/drawing.ts')
    const { openPdfium } = await import('../documents/pdfium-module.ts')
    yield pictureKind(bytes)
      ? await drawPicture(bytes, sideMax)
      : await drawPage(bytes, page, sideMax, openPdfium)
  },
  async *document(bytes, { fileName, contentType, scans = false }) {
    const { fileKind } = await import('../features/knowledge/sources/file-kind.ts')
    const { readDocument } = await import('../documents/read.ts')
    const { readCharacterMap } = await import('../native/character-maps.ts')
    const kind = fileKind(bytes, fileName, contentType ?? '')
    if (kind === null) throw new ParseFailure('unsupported')
    if (kind === 'encrypted') throw new ParseFailure('encrypted')
    const openPdfium = scans ? (await import('../documents/pdfium-module.ts')).openPdfium : null
    yield* readDocument(bytes, { ...kind, contentType, readCharacterMap, openPdfium })
  },
}
