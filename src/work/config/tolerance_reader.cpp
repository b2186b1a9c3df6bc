#include "config/tolerance_reader.h"

#include <cmath>

namespace dlasim {
namespace {

constexpr double kMost = 1e30;

double share_of(const JsonObject& object, const char* key, double otherwise)
{
    if (!object.has(key)) return otherwise;
    const Json& value = object.raw(key);
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > kMost)
        throw ConfigError(object.where(key), found(value) + ", expected a number of 0 or more");
    return value.get<double>();
}

}  // namespace

Tolerance read_tolerance(const JsonObject& object, const Tolerance& otherwise, bool needed)
{
    for (const char* key : {"ulp", "atol", "rtol"})
        if (needed && object.has(key) && !object.has("expected"))
            throw ConfigError(object.where(key), "found without \"expected\", which it is the tolerance of");
    return {object.count("ulp", Within{0, 65535}, "steps of the output's type", otherwise.ulp), share_of(object, "atol", otherwise.atol),
            share_of(object, "rtol", otherwise.rtol)};
}

void put_tolerance(OrderedJson& json, const Tolerance& tolerance)
{
    if (tolerance.ulp != 0) json["ulp"] = tolerance.ulp;
    if (tolerance.atol != 0) json["atol"] = tolerance.atol;
    if (tolerance.rtol != 0) json["rtol"] = tolerance.rtol;
}

}  // namespace dlasim
