/** The part of a browser that logins need: cookies by origin, and redirects. */
export function createBrowser() {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: URL) => {
    const jar = jars.get(url.origin) ?? new Map<string, string>()
    jars.set(url.origin, jar)
    return jar
  }

  function keep(url: URL, response: Response) {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';')
      const [name = '', ...value] = pair.split('=')
      const ended = attributes.some((attribute) => /max-age=0$|expires=.* 1970 /i.test(attribute))
      if (ended) jarOf(url).delete(name)
      else jarOf(url).set(name, value.join('='))
    }
  }

  return {
    cookies: (url: string) => jarOf(new URL(url)),
    /** Sends one request with the origin's cookies and does not follow redirects. */
    async get(address: string): Promise<Response> {
      const url = new URL(address)
      const cookie = [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(url, { headers: { cookie }, redirect: 'manual' })
      keep(url, response)
      return response
    },
    /** Follows redirects until an answer is not a redirect, or `until` accepts its target. */
    async follow(address: string, until: (url: URL) => boolean = () => false): Promise<URL> {
      let url = new URL(address)
      for (let hops = 0; hops < 12; hops++) {
        const location = (await this.get(url.href)).headers.get('location')
        if (location === null) return url
        url = new URL(location, url)
        if (until(url)) return url
      }
      throw new Error(`too many redirects, the last to ${url.href}`)
    },
  }
}

export type Browser = ReturnType<typeof createBrowser>
