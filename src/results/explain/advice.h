// What a cause of cycles means for whoever wants fewer of them.
//
//   cause ──► what would change it, in words
//         └─► changes worth a try: of what software does on the same machine, of the hardware, of the memory
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "facts/causes.h"

namespace dlasim {

/// A change to try. `path` is a hardware field, an option of the memory or a place in the layer or network, and `value` what it becomes:
/// "*2" and "/2" of what it is, or the value itself.
struct Change {
    enum class Of { Work, Hardware, Memory, FasterMemory };
    Of of;
    std::string_view path, value;
    bool operator==(const Change&) const = default;
};

struct Advice {
    std::string_view words;  // a sentence
    std::vector<Change> changes;
};
const Advice& advice_on(Cause cause);

/// Of the names in a result, "array_idle: accumulator_full"; what follows them is a client. None of any other name.
std::optional<Cause> cause_called(std::string_view name);

}  // namespace dlasim
