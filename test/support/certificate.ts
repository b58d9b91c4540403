import { generateKeyPairSync, sign } from 'node:crypto'

/**
 * A self-signed certificate (PEM) for `name`, valid from a day before to a day after now. Made for
 * each test run, so that the repository holds no private key. X.509 v3 (RFC 5280), ECDSA on P-256.
 */
export function selfSigned(name: string): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
  const subject = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))))
  const altNames = sequence(
    oid(0x55, 0x1d, 0x11),
    der(0x04, sequence(der(0x82, Buffer.from(name)))),
  )
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    algorithm,
    subject,
    sequence(utcTime(-1), utcTime(1)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(altNames)),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, privateKey))
  return {
    cert: pem('CERTIFICATE', sequence(body, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const length = content.length
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
const oid = (...bytes: number[]) => der(0x06, Buffer.from(bytes))

function utcTime(days: number): Buffer {
  const iso = new Date(Date.now() + days * 86_400_000).toISOString()
  return der(0x17, Buffer.from(`${iso.slice(2, 19).replace(/[-T:]/g, '')}Z`))
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/(.{64})/g, '$1\n')
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}
