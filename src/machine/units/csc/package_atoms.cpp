#include "units/csc/package_atoms.h"

namespace dlasim::csc {

void PackageAtoms::make_room(std::uint32_t count)
{
    if (atoms.size() < count) atoms.resize(count);
}

void PackageAtoms::make_room_in_bytes(std::uint32_t count, std::uint32_t atom_bytes)
{
    make_room(count);
    if (bytes.size() < std::size_t{count} * atom_bytes) bytes.resize(std::size_t{count} * atom_bytes);
    for (std::uint32_t i = 0; i < count; ++i) atoms[i] = atom(i, atom_bytes);
}

}  // namespace dlasim::csc
