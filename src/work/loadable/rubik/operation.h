// An operation of Rubik: its descriptor, its layout in a file, and what a driver's check asks of it.
//
// Source  loadable.md 3 and 5.
#pragma once
#include <cstddef>
#include <cstdint>

#include "loadable/cube.h"

namespace dlasim::loadable {

enum ReshapeMode : std::uint8_t { kContract, kSplit, kMerge };
struct RubikOperation {
    Cube source, destination;
    std::uint8_t mode = kContract, precision = 0, stride_x = 0, stride_y = 0;
    bool operator==(const RubikOperation&) const = default;
};

template <class Fields, OneOf<RubikOperation> O>
void operation_layout(Fields& surface, Fields& f, O& o)
{
    cube_layout(surface, o.source);
    cube_layout(surface, o.destination);
    f.fields(o.mode, o.precision, o.stride_x, o.stride_y);
}

struct CheckedTask;
void check_operation(CheckedTask& t, std::size_t i, const RubikOperation& o);

}  // namespace dlasim::loadable
