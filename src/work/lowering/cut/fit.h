// What fits, or the reason why it does not: who looks for something else then asks, and whoever cannot refuses with the reason.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"

namespace dlasim {

/// Lines of the input in a pass: CSC.D_RELEASE has 12 bits. [spec] csc.md 1.2
inline constexpr std::uint32_t kMaxReleased = 4096;

template <class T>
struct Fit {
    std::optional<T> value{};
    std::string problem{};  // without a value

    explicit operator bool() const { return value.has_value(); }
    const T& operator*() const { return *value; }
    const T* operator->() const { return &*value; }
    /// Throws ConfigError(where, problem) if there is none.
    T or_refused(const std::string& where) &&
    {
        if (!value) throw ConfigError(where, problem);
        return *std::move(value);
    }
};

}  // namespace dlasim
