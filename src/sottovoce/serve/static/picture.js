// Waveform and spectrogram of a sound, in the colours of the page.

export const TOP = 8000; // highest frequency shown, in hertz
const SIZE = 512; // samples per frame
const RANGE = 65; // dynamic range shown, in decibels

function prepare(canvas) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * scale));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * scale));
  return canvas.getContext("2d");
}

export function drawWave(canvas, { samples }, peak) {
  const pen = prepare(canvas);
  const { width, height } = canvas;
  pen.fillStyle = getComputedStyle(canvas).color;
  for (let x = 0; x < width; x++) {
    const first = Math.floor((x * samples.length) / width);
    const last = Math.max(first + 1, Math.floor(((x + 1) * samples.length) / width));
    let low = 0;
    let high = 0;
    for (let i = first; i < last && i < samples.length; i++) {
      low = Math.min(low, samples[i]);
      high = Math.max(high, samples[i]);
    }
    const top = ((1 - high / peak) * height) / 2;
    pen.fillRect(x, top, 1, Math.max(1, ((high - low) / peak) * (height / 2)));
  }
}

export function drawTones(canvas, { samples, rate }) {
  const pen = prepare(canvas);
  const { width, height } = canvas;
  const bins = Math.min(SIZE / 2, Math.floor((TOP / rate) * SIZE * 2)); // frames are at half the rate
  const columns = [];
  for (let x = 0; x < width; x++) {
    const middle = Math.floor(((x + 0.5) * samples.length) / width);
    columns.push(decibels(samples, middle - SIZE));
  }
  const loudest = loudestOf(columns);
  const colours = palette(canvas);
  const image = pen.createImageData(width, height);
  for (let y = 0; y < height; y++) {
    const bin = Math.min(bins - 1, Math.floor(((height - 1 - y) * bins) / height));
    for (let x = 0; x < width; x++) {
      const depth = Math.min(1, Math.max(0, 1 - (loudest - columns[x][bin]) / RANGE));
      image.data.set(colours[Math.round(255 * depth)], 4 * (y * width + x));
    }
  }
  pen.putImageData(image, 0, 0);
}

// The level drawn darkest: the 97th percentile of the columns, so that a click does not pale all others.
function loudestOf(columns) {
  const tops = columns.map((column) => column.reduce((a, b) => Math.max(a, b))).sort((a, b) => a - b);
  return tops[Math.floor(0.97 * (tops.length - 1))];
}

// 256 colours from the background through the colour of links to the colour of text.
function palette(canvas) {
  const style = getComputedStyle(canvas);
  const stops = [style.backgroundColor, style.color, style.outlineColor].map(
    (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number),
  );
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * 2;
    const from = Math.min(1, Math.floor(place));
    const mixed = stops[from].map((value, c) => value + (stops[from + 1][c] - value) * (place - from));
    return [...mixed, 255];
  });
}

const WINDOW = Float64Array.from({ length: SIZE }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SIZE));
const COS = Float64Array.from({ length: SIZE / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / SIZE));
const SIN = Float64Array.from({ length: SIZE / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / SIZE));
const REVERSED = Uint16Array.from({ length: SIZE }, (_, i) => {
  let j = 0;
  for (let bit = 1, k = i; bit < SIZE; bit <<= 1, k >>= 1) j = (j << 1) | (k & 1);
  return j;
});

// Decibels of one windowed frame at half the rate, by an iterative FFT.
function decibels(samples, start) {
  const re = new Float64Array(SIZE);
  const im = new Float64Array(SIZE);
  for (let i = 0; i < SIZE; i++) {
    const at = start + 2 * i;
    re[REVERSED[i]] = (((samples[at] || 0) + (samples[at + 1] || 0)) / 2) * WINDOW[i];
  }
  for (let half = 1, stride = SIZE / 2; half < SIZE; half *= 2, stride /= 2) {
    for (let at = 0; at < SIZE; at += 2 * half) {
      for (let k = 0; k < half; k++) {
        const [a, b] = [at + k, at + k + half];
        const x = re[b] * COS[k * stride] - im[b] * SIN[k * stride];
        const y = re[b] * SIN[k * stride] + im[b] * COS[k * stride];
        re[b] = re[a] - x;
        im[b] = im[a] - y;
        re[a] += x;
        im[a] += y;
      }
    }
  }
  return Float32Array.from({ length: SIZE / 2 }, (_, k) => 10 * Math.log10(re[k] ** 2 + im[k] ** 2 + 1e-10));
}
