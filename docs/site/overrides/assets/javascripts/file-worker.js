// Browsers refuse workers of pages that are opened from the disk. There, a worker's script runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class FileWorker {
    #frame = document.createElement("iframe");
    #waiting = [];
    onmessage = null;
    onerror = null;

    constructor(address) {
      this.#frame.hidden = true;
      document.documentElement.append(this.#frame);
      const inner = this.#frame.contentWindow;
      inner.postMessage = (data) => this.onmessage?.(new MessageEvent("message", { data }));
      const script = inner.document.createElement("script");
      script.src = new URL(address, document.baseURI).href;
      script.onload = () => {
        for (const data of this.#waiting.splice(0)) this.#deliver(data);
        this.#waiting = null;
      };
      script.onerror = (event) => this.onerror?.(event);
      inner.document.documentElement.append(script);
    }

    #deliver(data) {
      const inner = this.#frame.contentWindow;
      inner?.dispatchEvent(new inner.MessageEvent("message", { data }));
    }

    postMessage(data) {
      if (this.#waiting) this.#waiting.push(data);
      else this.#deliver(data);
    }

    addEventListener(kind, listener) {
      this[`on${kind}`] = listener;
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
