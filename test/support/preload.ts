import { afterAll } from 'bun:test'
import { endServers } from './server.ts'

afterAll(endServers)
