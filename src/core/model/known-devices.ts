/** What a device is said to do by those who make it. */
export interface KnownDevice {
  /** Words that its name has, whatever else it has; of several devices the one with most words is meant. */
  readonly words: string;
  /** Bytes per second that its memory gives, in 10^9. */
  readonly bandwidth: number;
  /** Dense 16-bit multiplications and additions per second, in 10^12. */
  readonly tflops: number;
}

const known = (words: string, bandwidth: number, tflops: number): KnownDevice => ({ words, bandwidth, tflops });

/** Peak figures of common devices. Where a name stands for several builds, the slowest. */
export const knownDevices: readonly KnownDevice[] = [
  // NVIDIA: specifications on nvidia.com/geforce; tensor rate with 32-bit sums, from the Ampere GA102 whitepaper.
  known('rtx 3060', 360, 25.5),
  known('rtx 3060 ti', 448, 32.4),
  known('rtx 3070', 448, 40.6),
  known('rtx 3070 ti', 608, 43.5),
  known('rtx 3080', 760, 59.5),
  known('rtx 3080 ti', 912, 68.2),
  known('rtx 3090', 936, 71),
  known('rtx 3090 ti', 1008, 80),
  // NVIDIA: the same, from the Ada GPU architecture whitepaper.
  known('rtx 4060', 272, 30.2),
  known('rtx 4060 ti', 288, 44.1),
  known('rtx 4070', 504, 58.3),
  known('rtx 4070 super', 504, 71),
  known('rtx 4070 ti', 504, 80.2),
  known('rtx 4070 ti super', 672, 88.2),
  known('rtx 4080', 716, 97.5),
  known('rtx 4080 super', 736, 104.4),
  known('rtx 4090', 1008, 165.2),
  // NVIDIA: the same, from the RTX Blackwell GPU architecture whitepaper.
  known('rtx 5060', 448, 38.4),
  known('rtx 5060 ti', 448, 47.4),
  known('rtx 5070', 672, 61.7),
  known('rtx 5070 ti', 896, 87.9),
  known('rtx 5080', 960, 112.6),
  known('rtx 5090', 1792, 209.5),
  // NVIDIA: datasheets of the A100, H100, H200, L4, L40S and T4 Tensor Core GPUs, without sparsity.
  known('a100', 1555, 312),
  known('a100 80gb', 1935, 312),
  known('h100', 2000, 756),
  known('h100 hbm3', 3350, 989),
  known('h200', 4800, 989),
  known('l4', 300, 121),
  known('l40s', 864, 362),
  known('tesla t4', 320, 65),
  // Apple: technical specifications on support.apple.com give the bandwidth; twice the 32-bit rate of the GPU, from
  // cpu-monkey.com, is the other figure. Memory is shared, and the processor's name is the chip's.
  known('apple m1', 68, 4.6),
  known('apple m1 pro', 200, 10.6),
  known('apple m1 max', 400, 21.2),
  known('apple m1 ultra', 800, 42.4),
  known('apple m2', 100, 7.1),
  known('apple m2 pro', 200, 11.4),
  known('apple m2 max', 400, 27),
  known('apple m2 ultra', 800, 54),
  known('apple m3', 100, 7.1),
  known('apple m3 pro', 150, 9.9),
  known('apple m3 max', 300, 28.4),
  known('apple m3 ultra', 819, 57),
  known('apple m4', 120, 8.5),
  known('apple m4 pro', 273, 17),
  known('apple m4 max', 410, 34),
  // AMD: product specifications on amd.com of the Radeon RX 7900 series and of Instinct MI210, MI250X and MI300.
  known('rx 7900 gre', 576, 92),
  known('rx 7900 xt', 800, 103),
  known('rx 7900 xtx', 960, 123),
  known('mi210', 1638, 181),
  known('mi250x', 3277, 383),
  known('mi300a', 5300, 981),
  known('mi300x', 5300, 1307),
];
