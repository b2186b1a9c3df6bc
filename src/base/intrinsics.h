// The vector instructions of x86-64, and the functions that may use them: DLASIM_AVX2 void f(...). Nothing on other processors.
// What Vectors::Avx512 needs: vectors.h. For .cpp files that are compiled alone: it silences two warnings of GCC for the rest of the file.
// DLASIM_EMULATED is for a test that brings the instructions for every processor (tests/emulation).
#pragma once

#if defined(DLASIM_EMULATED)
#define DLASIM_AVX2
#define DLASIM_AVX512
#elif defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// The intrinsics of GCC 12 pass undefined vectors by initialising them with themselves.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define DLASIM_AVX2 __attribute__((target("avx2")))
#define DLASIM_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,bmi,bmi2")))
#endif
