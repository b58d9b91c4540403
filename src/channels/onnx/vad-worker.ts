import { InferenceSession, Tensor } from 'onnxruntime-node'
import { errorMessage, type ParentLink, serveParent } from '../../upstream/child/worker-link.ts'
import { RECOGNISER_RATE } from '../../upstream/ports/speech.ts'

/** The next samples of a stream, 16 kHz mono. The first part with its number opens a stream. */
export interface VadPart {
  readonly stream: number
  readonly samples: Int16Array
}

/** Messages between the server and the voice detector; one request is open at a time. */
export interface VadRequest {
  readonly type: 'hear'
  readonly parts: readonly VadPart[]
  /** Streams that have ended. */
  readonly ended: readonly number[]
}

export type VadAnswer =
  /** For each part, the probability of speech in each of its windows. */
  | { readonly type: 'heard'; readonly parts: readonly (readonly number[])[] }
  | { readonly type: 'error'; readonly message: string }

/**
 * The voice detector: like embedding it runs ONNX Runtime in a process of its own. Resolves when
 * the server has gone.
 */
export function runVadWorker(file: string, parent: ParentLink<VadRequest>): Promise<void> {
  const load = async (send: (answer: VadAnswer) => void) => {
    const begin = await openSilero(file)
    const streams = new Map<number, Stream>()

    async function hear({ parts, ended }: VadRequest): Promise<VadAnswer> {
      for (const id of ended) streams.delete(id)
      const heard: number[][] = []
      for (const { stream: id, samples } of parts) {
        const stream = streams.get(id) ?? begin()
        streams.set(id, stream)
        heard.push(await stream.push(samples))
      }
      return { type: 'heard', parts: heard }
    }

    return async (request: VadRequest) => {
      try {
        send(await hear(request))
      } catch (error) {
        send({ type: 'error', message: errorMessage(error) })
      }
    }
  }
  // Urgent: it is little work, and a speaker waits for the end of the sentence to be detected.
  return serveParent(parent, load, true)
}

/** 32 ms. */
const WINDOW = 512
/** Samples of the previous window that versions 5 and 6 of the model need before each window. */
const CONTEXT = 64
/** Versions 5 and 6 have one state; older ones have two, `h` and `c`. */
const STATE = 'state'

export interface Stream {
  /** The probability of speech in each window that these samples complete. */
  push(samples: Int16Array): Promise<number[]>
}

/**
 * Loads a Silero VAD (snakers4/silero-vad) of version 4, 5 or 6. Resolves with a function that
 * opens a stream. Throws for another model; the message is for the operator.
 */
export async function openSilero(file: string): Promise<() => Stream> {
  const session = await InferenceSession.create(file, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    // The library would warn of unused tables in exports of the model.
    logSeverityLevel: 3,
  })
  const states = session.inputMetadata.flatMap((input) => {
    if (!input.isTensor || input.name === 'sr' || input.shape.length !== 3) return []
    return [{ name: input.name, shape: input.shape.map((size) => (Number(size) > 0 ? +size : 1)) }]
  })
  const [sound] = session.inputNames.filter((name) => !['sr', ...namesOf(states)].includes(name))
  const [speech, ...next] = session.outputNames
  if (sound === undefined || speech === undefined || next.length !== states.length || !next[0]) {
    throw new Error('the model is no Silero VAD')
  }
  const context = namesOf(states).includes(STATE) ? CONTEXT : 0
  const sr = session.inputMetadata.find(({ name }) => name === 'sr')
  const rateShape = sr?.isTensor ? sr.shape.map(() => 1) : []
  const rate = sr && {
    sr: new Tensor('int64', BigInt64Array.of(BigInt(RECOGNISER_RATE)), rateShape),
  }

  function begin(): Stream {
    let kept: Record<string, Tensor> = Object.fromEntries(
      states.map(({ name, shape }) => {
        const size = shape.reduce((product, one) => product * one, 1)
        return [name, new Tensor('float32', new Float32Array(size), shape)]
      }),
    )
    const window = new Float32Array(context + WINDOW)
    let filled = context

    async function run(): Promise<number> {
      const input = new Tensor('float32', window.slice(), [1, window.length])
      const output = await session.run({ [sound as string]: input, ...rate, ...kept })
      kept = Object.fromEntries(
        states.map(({ name }, i) => [name, output[next[i] as string] as Tensor]),
      )
      window.copyWithin(0, WINDOW)
      filled = context
      return Number(output[speech as string]?.data[0])
    }

    return {
      async push(samples) {
        const heard: number[] = []
        for (const sample of samples) {
          window[filled++] = sample / 32_768
          if (filled === window.length) heard.push(await run())
        }
        return heard
      },
    }
  }

  // A model with the right input names but wrong shapes fails here, not at the first word.
  await begin().push(new Int16Array(WINDOW))
  return begin
}

const namesOf = (inputs: readonly { readonly name: string }[]) => inputs.map(({ name }) => name)
