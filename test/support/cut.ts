import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy to `port` of this machine whose connections can be cut. */
export async function startLine(port: number) {
  const open = new Set<Socket>()
  let isCut = false
  let silent = false
  let tried = 0
  let lost = { request: '', times: 0 }

  const server = createServer((near) => {
    tried += 1
    if (isCut) return void near.destroy()
    open.add(near)
    near.on('close', () => open.delete(near))
    near.on('error', () => {})
    if (silent) return void near.resume()
    const far = connect({ host: '127.0.0.1', port })
    far.on('error', () => near.destroy())
    far.on('close', () => near.destroy())
    near.on('close', () => far.destroy())
    near.on('data', (chunk: Buffer) => {
      if (lost.times === 0 || !chunk.includes(lost.request)) return
      lost.times -= 1
      far.prependOnceListener('data', () => near.destroy())
    })
    near.pipe(far)
    far.pipe(near)
    near.on('hush', () => void far.unpipe(near).resume())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as { port: number }

  return {
    port: own,
    /** The number of connections so far. */
    tried: () => tried,
    /** Closes the open connections. */
    drop() {
      for (const socket of open) socket.destroy()
    },
    /** Accepts connections and ends them at once. */
    cut() {
      isCut = true
      this.drop()
    },
    /**
     * Forwards requests that begin so, and closes their connections in place of an answer, so many
     * times; the result tells how many are left.
     */
    lose(request: string, times: number) {
      const own = { request, times }
      lost = own
      return () => own.times
    },
    /** The open connections stay, and forward nothing more. */
    hush() {
      for (const socket of open) socket.emit('hush')
    },
    /** From now on accepts connections and forwards nothing. */
    silence() {
      silent = true
    },
    mend() {
      isCut = false
      silent = false
    },
    [Symbol.asyncDispose]() {
      this.cut()
      return new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}
