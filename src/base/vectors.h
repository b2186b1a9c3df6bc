// Forms of a loop for the vectors of the processor, one of them taken by name: `Best` in a run, each of them in tests.
//
//   DLASIM_FORM void add(std::int32_t* sums, const std::int32_t* more, std::size_t count) { plain C++ }
//   in_form<add>(vectors, sums, more, count);
//
// The function is compiled for each form; all of them do the same.
#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace dlasim {

/// Best: what this processor can do. Sse2 is Portable where the compiler is left to choose.
enum class Vectors { Best, Portable, Sse2, Avx2, Avx512 };

inline bool available(Vectors vectors)
{
#if defined(DLASIM_EMULATED)
    return static_cast<void>(vectors), true;
#endif
    switch (vectors) {
        case Vectors::Best:  // NOLINT(bugprone-branch-clone)
        case Vectors::Portable:
            return true;
#if defined(__x86_64__)
        case Vectors::Sse2:
            return true;
        case Vectors::Avx2:
            return __builtin_cpu_supports("avx2");
        case Vectors::Avx512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("bmi") &&
                   __builtin_cpu_supports("bmi2");
#endif
        default:
            return false;
    }
}

/// Those of these forms that run here, for tests of each. tests/emulation runs the code with intrinsics in all of them everywhere.
inline std::vector<Vectors> available_of(std::initializer_list<Vectors> forms)
{
    std::vector<Vectors> here;
    std::copy_if(forms.begin(), forms.end(), std::back_inserter(here), available);
    return here;
}

/// What `Best` is on this processor; any other form as it is.
inline Vectors chosen(Vectors vectors)
{
    static const Vectors best = available(Vectors::Avx512) ? Vectors::Avx512
                                : available(Vectors::Avx2) ? Vectors::Avx2
                                : available(Vectors::Sse2) ? Vectors::Sse2
                                                           : Vectors::Portable;
    return vectors == Vectors::Best ? best : vectors;
}

inline std::string name_of(Vectors vectors)
{
    constexpr std::array kNames = {"Best", "Portable", "Sse2", "Avx2", "Avx512"};
    return kNames[static_cast<std::size_t>(vectors)];
}

#if defined(__GNUC__)
#define DLASIM_FORM [[gnu::always_inline]] inline
#else
#define DLASIM_FORM inline
#endif

#if defined(__x86_64__) && defined(__GNUC__)
namespace form {

template <auto Function, class... Arguments>
[[gnu::target("avx2"), gnu::noinline]] decltype(auto) avx2(Arguments... arguments)
{
    return Function(arguments...);
}

template <auto Function, class... Arguments>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq"), gnu::noinline]] decltype(auto) avx512(Arguments... arguments)
{
    return Function(arguments...);
}

}  // namespace form
#endif

/// Calls a DLASIM_FORM function, arguments by value, in that form. pre: available(vectors)
template <auto Function, class... Arguments>
decltype(auto) in_form(Vectors vectors, Arguments... arguments)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(DLASIM_EMULATED)
    vectors = chosen(vectors);
    if (vectors == Vectors::Avx512) return form::avx512<Function, Arguments...>(arguments...);
    if (vectors == Vectors::Avx2) return form::avx2<Function, Arguments...>(arguments...);
#else
    static_cast<void>(vectors);
#endif
    return Function(arguments...);
}

}  // namespace dlasim
