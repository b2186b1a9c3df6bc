#include "config/layer/partition_reader.h"

#include "config/descriptor_keys.h"

namespace dlasim {

namespace {

const std::vector<std::string> kMinimise{"parts", "cycles", "traffic", "balanced"};
const std::vector<std::string> kOverlap{"all", "registers", "none", "unprotected"};
constexpr std::size_t kMaxListed = 4096;

/// A number, or one for each part.
void read_rows(const JsonObject& object, Partition& partition)
{
    if (!object.has("rows")) return;
    const Json& rows = object.raw("rows");
    if (!rows.is_array()) {
        partition.rows = static_cast<std::uint32_t>(checked_integer(rows, object.where("rows"), {1, keys::kMaxSide}, "rows of a part"));
        return;
    }
    if (rows.empty() || rows.size() > kMaxListed)
        throw ConfigError(object.where("rows"), found(rows) + ", expected 1 to " + std::to_string(kMaxListed) + " numbers, one per tile");
    for (std::size_t i = 0; i < rows.size(); ++i)
        partition.row_list.push_back(static_cast<std::uint32_t>(
            checked_integer(rows[i], object.where("rows") + "/" + std::to_string(i), {1, keys::kMaxSide}, "rows of a part")));
}

}  // namespace

Minimise read_minimise(const JsonObject& object, Minimise without)
{
    if (!object.has("plan")) return without;
    return static_cast<Minimise>(object.object("plan", keys::kPlan).word("minimise", kMinimise, static_cast<std::size_t>(without)));
}

Overlap read_overlap(const JsonObject& object, std::size_t words)
{
    return static_cast<Overlap>(object.word("overlap", {kOverlap.begin(), kOverlap.begin() + static_cast<std::ptrdiff_t>(words)}, 0));
}

const std::string& overlap_name(Overlap overlap) { return kOverlap[static_cast<std::size_t>(overlap)]; }

OrderedJson plan_json(Minimise minimise) { return {{"minimise", kMinimise[static_cast<std::size_t>(minimise)]}}; }

Partition read_partition(const JsonObject& layer)
{
    Partition partition;
    partition.minimise = read_minimise(layer);
    partition.automatic = partition.minimise != Minimise::Parts;
    if (!layer.has("partition")) return partition;
    const Json& value = layer.raw("partition");
    if (!value.is_object()) {
        if (value != "auto")
            throw ConfigError(layer.where("partition"), found(value) + ", expected \"auto\" or an object {\"rows\", \"kernels\", ...}");
        partition.automatic = true;
        return partition;
    }
    layer.not_both("partition", "plan");
    const JsonObject object = layer.object("partition", keys::kPartition);
    const auto number = [&](const char* key) { return object.has(key) ? static_cast<std::uint32_t>(object.integer(key)) : 0; };
    read_rows(object, partition);
    partition.columns = number("columns");
    partition.phases = object.flag("dilation_phases", false);
    partition.kernels = number("kernels");
    partition.data_banks = number("data_banks");
    partition.weight_banks = number("weight_banks");
    partition.pooled = object.flag("pooled", false);
    partition.padded = object.flag("padded", false);
    partition.reuse_data = object.flag("reuse_data", false);
    partition.reuse_weights = object.flag("reuse_weights", false);
    if (!partition.on())
        throw ConfigError(layer.where("partition"), found(value) +
                                                        ", expected \"rows\", \"kernels\", \"columns\", \"dilation_phases\", "
                                                        "\"data_banks\" or \"weight_banks\" in it, or \"auto\"");
    return partition;
}

OrderedJson partition_json(const Partition& partition)
{
    if (partition.automatic) return "auto";
    OrderedJson json = OrderedJson::object();
    for (const auto& [key, number] :
         {std::pair{"rows", partition.rows}, std::pair{"columns", partition.columns}, std::pair{"kernels", partition.kernels},
          std::pair{"data_banks", partition.data_banks}, std::pair{"weight_banks", partition.weight_banks}})
        if (number != 0) json[key] = number;
    if (!partition.row_list.empty()) json["rows"] = partition.row_list;
    if (partition.phases) json["dilation_phases"] = true;
    if (partition.pooled) json["pooled"] = true;
    if (partition.padded) json["padded"] = true;
    json["reuse_data"] = partition.reuse_data;
    json["reuse_weights"] = partition.reuse_weights;
    return json;
}

}  // namespace dlasim
