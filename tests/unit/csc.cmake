dlasim_test(csc_replay_test.cpp rtl USES dlasim::csc dlasim::cmac dlasim::cacc dlasim::csb_core nlohmann_json::nlohmann_json)
dlasim_test(csc_sequencer_test.cpp quick USES dlasim::csc)
dlasim_test(cacc_test.cpp quick USES dlasim::cacc)
dlasim_test(accumulator_test.cpp quick USES dlasim::cacc)
