import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Stands in for llama.cpp's `llama-server`, which is no part of the repository: its flags and
 * variables, 503 from `/health` until the model is loaded, the paths below `/v1` behind
 * `--api-key`, and its answers, as build 11669 gives them. A character is a token. It writes its
 * arguments to `calls.jsonl` beside it, ends when it is told "crash", and ends at once while a
 * file `broken` lies beside it.
 */
const SOURCE = `#!${process.execPath}
import { appendFileSync, existsSync } from 'node:fs'
import { parseArgs } from 'node:util'

const here = import.meta.dir
const { values } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', short: 'm' },
    host: { type: 'string', default: '0.0.0.0' },
    port: { type: 'string', default: '8080' },
    'api-key': { type: 'string' },
    embedding: { type: 'boolean' },
    reranking: { type: 'boolean' },
    'ctx-size': { type: 'string', short: 'c', default: process.env.LLAMA_ARG_CTX_SIZE },
    'ubatch-size': { type: 'string', default: process.env.LLAMA_ARG_UBATCH ?? '512' },
    threads: { type: 'string', short: 't' },
  },
})
const secrets = Object.keys(process.env).filter((name) => /^(MB_|AWS_)/.test(name))
const call = JSON.stringify({ pid: process.pid, secrets, ...values })
appendFileSync(here + '/calls.jsonl', call + '\\n')
if (existsSync(here + '/broken')) {
  console.error('0.00.114.256 E llama_model_load: error loading model: missing tensor')
  console.error('0.00.114.987 I srv    operator(): operator(): cleaning up before exit...')
  console.error('0.00.115.423 E srv  llama_server: exiting due to model loading error')
  process.exit(1)
}
const readyAt = Date.now() + 400
const json = (body, status = 200) => Response.json(body, { status })
const error = (code, type, message) => json({ error: { message, type, code } }, code)
const sse = (parts) =>
  new Response(parts.map((part) => 'data: ' + part + '\\n\\n').join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })
Bun.serve({
  hostname: values.host,
  port: Number(values.port),
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (Date.now() < readyAt) return error(503, 'unavailable_error', 'Loading model')
    if (pathname === '/health') return json({ status: 'ok' })
    if (request.headers.get('authorization') !== 'Bearer ' + values['api-key']) {
      return error(401, 'authentication_error', 'Invalid API Key')
    }
    if (pathname === '/v1/models') return json({ data: [{ id: values.model }] })
    const body = await request.json()
    if (pathname === '/v1/embeddings' && values.embedding) {
      const tooLong = body.input.find((text) => text.length > Number(values['ubatch-size']))
      if (tooLong) return error(500, 'server_error', 'input is too large to process')
      const at = (text, index) => ((text.length * (index + 1)) % 7) - 3
      const vector = (text) => Array.from({ length: 8 }, (_, index) => at(text, index))
      return json({ data: body.input.map((text, index) => ({ index, embedding: vector(text) })) })
    }
    if (pathname === '/v1/rerank' && values.reranking) {
      const results = body.documents.map((_, index) => ({ index, relevance_score: index / 10 }))
      return json({ results })
    }
    const asked = body.messages.at(-1).content
    if (String(asked).includes('crash')) process.exit(139)
    const object = 'chat.completion.chunk'
    const chunk = (delta, finish_reason = null) =>
      JSON.stringify({ choices: [{ finish_reason, index: 0, delta }], object })
    const usage = { completion_tokens: 4, prompt_tokens: 9, total_tokens: 13 }
    return sse([
      chunk({ role: 'assistant', content: null }),
      chunk({ content: 'the pack heard ' + asked }),
      chunk({}, 'stop'),
      JSON.stringify({ choices: [], object, usage }),
      '[DONE]',
    ])
  },
})
`

/** Puts a model pack into the data folder; the names of its files decide what they are for. */
export function installModelPack(dataDir: string, models: readonly string[]): string {
  const folder = join(dataDir, 'packs', 'model')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A script needs an ending by which its language is known.
  writeFileSync(join(folder, 'stub.ts'), SOURCE)
  const program = join(folder, 'llama-server')
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${join(folder, 'stub.ts')} "$@"\n`)
  chmodSync(program, 0o755)
  for (const name of models) writeFileSync(join(folder, name), 'GGUF')
  return folder
}
