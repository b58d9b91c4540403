import { Client } from 'pg'
import { parseAddress } from '../../src/storage/postgres/address.ts'

/** Asks a database, on a connection of its own, and closes it. Several commands give no rows. */
export async function askPostgres<Row>(url: string, text: string): Promise<Row[]> {
  const client = new Client(parseAddress(url))
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text)).rows ?? []
  } finally {
    await client.end()
  }
}
