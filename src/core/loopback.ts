const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/

/** Whether a host is this machine: a name or an address, of a setting or of a URL. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)
