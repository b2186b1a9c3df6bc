#include "sweep/sweep_file.h"

#include "silicon/area.h"

namespace dlasim {

Sweep read_sweep_file(const std::string& path)
{
    std::optional<silicon::Technology> technology;  // read when it is asked for
    return read_sweep(path, [&](const Sweep& sweep, const Hardware& hardware, const std::string& name) -> std::optional<double> {
        if (name != "area_mm2") return std::nullopt;
        if (!technology) technology = silicon::read_technology(sweep.technology, at(sweep.file, "/technology"), sweep.folder);
        return silicon::area_mm2(*technology, hardware);
    });
}

SweepPoint named_point(const std::string& path, std::size_t index)
{
    const Sweep sweep = read_sweep_file(path);
    if (index >= sweep.points.size())
        throw ConfigError("--point", "found " + std::to_string(index) + ", expected a point of " + std::to_string(sweep.points.size()));
    return sweep_point(sweep, index);
}

}  // namespace dlasim
