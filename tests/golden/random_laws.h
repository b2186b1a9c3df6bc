// Laws that hold for any seed, one function each: arguments are those after the law's name.
#pragma once

namespace dlasim {

int random_fused(int argc, char** argv);
int random_layers(int argc, char** argv);
int random_mixes(int argc, char** argv);
int random_plans(int argc, char** argv);
int random_points(int argc, char** argv);
int random_sequences(int argc, char** argv);
int random_transfers(int argc, char** argv);
int random_values(int argc, char** argv);

}  // namespace dlasim
