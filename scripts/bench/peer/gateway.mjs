// A program for Node.js: the peer gateway on a free port of the loopback alone, telling its address
// in the line that the benchmark waits for.
import { Server } from 'node:net'

// Version 1.15.2 sets headers of what fetch answered, which Node.js forbids: it answers every
// streamed call with 500 unless it gets a copy.
const { fetch } = globalThis
globalThis.fetch = async (...args) => {
  const answer = await fetch(...args)
  return new Response(answer.body, answer)
}

// It takes a port but no host, and would listen to the whole network.
const { listen } = Server.prototype
Server.prototype.listen = function listenHere() {
  this.once('listening', () => {
    const url = `http://127.0.0.1:${this.address().port}`
    process.stdout.write(`\n${JSON.stringify({ event: 'listening', url })}\n`)
  })
  return listen.call(this, 0, '127.0.0.1')
}

process.argv.push('--headless')
await import('@portkey-ai/gateway/build/start-server.js')
